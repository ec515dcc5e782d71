import { Type } from 'typebox';

/** A length of time in seconds; parts of a second are allowed, which the tests use. */
export function Seconds(description: string, value: number, minimum = 0) {
  return Type.Number({ description, default: value, minimum, maximum: 31_536_000, 'x-unit': 's' });
}

/** A length of time in hours; parts of an hour are allowed, which the tests use. */
export function Hours(description: string, value: number, maximum = 8_760) {
  return Type.Number({ description, default: value, minimum: 0.0001, maximum, 'x-unit': 'h' });
}

/** A number of something. */
export function Count(description: string, value: number, minimum = 0) {
  return Type.Integer({ description, default: value, minimum, maximum: 1_000_000_000 });
}
