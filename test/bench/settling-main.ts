// The gateway's main.ts, with its garbage collected when it is told to.
import './settle.ts';

await import('../../main.ts');
