import type { Test } from 'tap';
import { NoAnswerInTime } from '../../../config/isolated/driver.ts';
import type { AddressRule, IdentifierRule } from '../../../core/contracts/driver.ts';
import type { Bench, Skip } from './bench.ts';

/** Texts that no rule gives back unchanged: empty, too long, or with invisible characters. */
const nonsense = [
  '',
  ' ',
  '\t\n',
  '\u0000',
  'a\u0007b@c',
  `${'x'.repeat(1_000)}@${'y'.repeat(1_000)}`,
];

/** What an account and a contact are called by. */
export async function naming(t: Test, bench: Bench): Promise<void> {
  const { identifier, address, capabilities } = bench.driver;

  const phones: Skip = identifier === undefined ? 'accounts are phone numbers' : false;
  await bench.clause(t, 'identifiers have one form', phones, async (t) => {
    const account = await bench.world.account();
    if (identifier !== undefined) {
      await haveOneForm(t, patient(bench, identifier), account.identifier, 100);
    }
  });

  const addresses: Skip =
    capabilities.recipients === 'address' ? false : 'recipients are no addresses';
  await bench.clause(t, 'addresses have one form', addresses, async (t) => {
    const { phone, networkId } = await bench.world.contact(await bench.world.account(), 1);
    t.equal(phone, null, 'a contact has its address alone');
    t.type(networkId, 'string');
    if (address !== undefined) {
      await haveOneForm(t, patient(bench, address), networkId ?? '', 190);
    }
  });
}

/** A rule that answers when it can. */
interface PatientRule {
  readonly description: string;
  parse(text: string): Promise<string | null>;
}

/** Asks again where the thread of an isolated driver is late: a machine may be busy, and the gateway waits for 100 ms. */
function patient(bench: Bench, rule: IdentifierRule | AddressRule): PatientRule {
  return {
    description: rule.description,
    async parse(text) {
      let parsed: string | null = null;
      await bench.until('an answer to parse', async () => {
        try {
          parsed = rule.parse(text);
          return true;
        } catch (error) {
          if (error instanceof NoAnswerInTime) return false;
          throw error;
        }
      });
      return parsed;
    },
  };
}

async function haveOneForm(t: Test, rule: PatientRule, name: string, longest: number) {
  t.match(rule.description, /\S/, 'says what to ask the user for');
  t.equal(await rule.parse(name), name, 'the form that is stored is given back unchanged');
  for (const text of [name, ` ${name}\n`, name.toUpperCase(), ...nonsense]) {
    const parsed = await rule.parse(text);
    if (parsed === null) continue;
    t.equal(await rule.parse(parsed), parsed, 'what it has answered it gives back unchanged');
    t.ok(parsed.length > 0 && parsed.length <= longest, 'fits');
    t.notMatch(parsed, /\p{C}/u, 'has no control character');
  }
  for (const text of nonsense.slice(0, 3)) {
    t.equal(await rule.parse(text), null, 'nothing is no name');
  }
}
