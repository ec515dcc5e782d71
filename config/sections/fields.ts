import { Type } from 'typebox';

/** The longest time of a setting in seconds, 23 days: a timer of Node.js takes no more than 2,147,483. */
const longestSeconds = 2_000_000;

/** A length of time in seconds; parts of a second are allowed, which the tests use. */
export function Seconds(description: string, value: number, minimum = 0) {
  return Type.Number({
    ...{ description, default: value, minimum, maximum: longestSeconds },
    'x-unit': 's',
  });
}

/** A length of time in hours; parts of an hour are allowed, which the tests use. */
export function Hours(description: string, value: number, maximum = 8_760) {
  return Type.Number({ description, default: value, minimum: 0.0001, maximum, 'x-unit': 'h' });
}

/** A number of something. */
export function Count(description: string, value: number, minimum = 0) {
  return Type.Integer({ description, default: value, minimum, maximum: 1_000_000_000 });
}
