import type { Cradle } from '../../core/container.ts';
import type { Output } from './output.ts';

/** `secrets reseal` */
export async function resealSecrets(reseal: Cradle['reseal']): Promise<Output> {
  const { resealed, unreadable } = await reseal();
  const counts = Object.entries(resealed).map(([name, count]) => `${count} ${name}`);
  const lines = [
    `Sealed anew with GATEWAY_SECRET: ${counts.join(', ')}.`,
    ...(unreadable === 0
      ? []
      : [`${unreadable} open under no secret that is given, and stay as they are.`]),
    'Take GATEWAY_SECRET_PREVIOUS out once every process runs with the new secret.',
  ];
  const changed = { tenantId: null, target: null };
  return { json: { resealed, unreadable }, text: lines.join('\n'), changed };
}
