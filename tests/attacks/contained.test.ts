import { describeAttacks } from './describe-attacks.ts';

describeAttacks('contained');
