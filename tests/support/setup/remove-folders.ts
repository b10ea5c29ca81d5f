import { afterAll } from 'vitest';
import { removeFolders } from '../files/repository.ts';

// Last of all in each file: a server of it may still write there.
afterAll(removeFolders);
