/** The 2048-bit prime that the network uses and that its clients know as safe. */
export const prime = Buffer.from(
  [
    'c71caeb9c6b1c9048e6c522f70f13f73980d40238e3e21c14934d037563d930f48198a0aa7c14058',
    '229493d22530f4dbfa336f6e0ac925139543aed44cce7c3720fd51f69458705ac68cd4fe6b6b13ab',
    'dc9746512969328454f18faf8c595f642477fe96bb2a941d5bcd1d4ac8cc49880708fa9b378e3c4f',
    '3a9060bee67cf9a4a4a695811051907e162753b56b0f6b410dba74d8a84b2a14b3144e0ef1284754',
    'fd17ed950d5965b4b9dd46582db1178d169c6bc465b0d6ff9ca3928fef5b9ae4e418fc15e83ebea0',
    'f87fa9ff5eed70050ded2849f47bf959d956850ce929851f0d8115f635b105ee2e4e15d04b2454bf',
    '6f4fadf034b10403119cd8e3b92fcc5b',
  ].join(''),
  'hex',
);

/** The same as a number, which is what `power` counts modulo. */
export const modulus = toNumber(prime);

/** The number that bytes say, the highest first. */
export function toNumber(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
}

/** The bytes of a number below the prime, as many as the prime has. */
export function pad(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(512, '0'), 'hex');
}

/** A power of the base modulo the prime. */
export function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let square = base % modulus;
  for (let left = exponent; left > 0n; left >>= 1n) {
    if (left & 1n) result = (result * square) % modulus;
    square = (square * square) % modulus;
  }
  return result;
}
