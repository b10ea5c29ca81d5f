import { describeAttacks } from './describe-attacks.ts';

describeAttacks('none');
