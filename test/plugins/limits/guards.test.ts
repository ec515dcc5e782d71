import t from 'tap';
import type { GuardSettings } from '../../../plugins/limits/contract.ts';
import { loopGuard, openerBurst, safetyHold, safetySince } from '../../../plugins/limits/guards.ts';
import { guardSettings } from '../../../plugins/limits/rules.ts';

const settings = guardSettings({
  loop_guard: { messages: 3, window_s: 60 },
  opener_burst: { openers: 2, window_s: 60 },
  safety: { refusals: 3, window_s: 600, hold_s: 3600 },
});

const noon = Date.parse('2026-03-10T12:00:00.000Z');

t.test('a guard refuses what comes too often, and says until when', async (t) => {
  const ago = (...seconds: number[]) => seconds.map((s) => noon - s * 1000);
  const loop = (outbound: number[], inbound: number[], own = settings.loopGuard) =>
    loopGuard(own, outbound, inbound, noon);
  t.equal(loop(ago(1, 2, 3), ago(1, 2)), null, 'one side is short of it');
  t.equal(loop(ago(1, 2, 3), ago(1, 2, 61)), null, 'outside of the window');
  t.equal(loop(ago(1, 2, 3), ago(1, 2, 60)), null, 'at its edge');
  t.equal(loop(ago(50, 40, 30, 20), ago(10, 5, 1)), 20_000, 'until the first side clears');
  t.equal(loop(ago(10, 5, 1), ago(50, 20, 40)), 10_000);
  t.equal(loop(ago(1, 1, 1), ago(1, 1, 1), { messages: 0, windowMs: 60_000 }), null, 'off');

  const burst = (openers: number[], own: GuardSettings['openerBurst'] = settings.openerBurst) =>
    openerBurst(own, openers, noon);
  t.equal(burst(ago(1)), null);
  t.equal(burst(ago(1, 59)), 1000);
  t.equal(burst(ago(59, 30, 1)), 30_000, 'until the second newest leaves');
  t.equal(burst(ago(1, 1, 1), { openers: 0, windowMs: 60_000 }), null, 'off');

  t.equal(safetyHold(settings.safety, ago(1, 2), noon), null);
  t.equal(safetyHold(settings.safety, ago(0, 1, 599), noon), noon + 3_600_000);
  t.equal(safetyHold(settings.safety, ago(0, 1, 601), noon), null);
  t.equal(safetyHold({ ...settings.safety, refusals: 0 }, ago(0, 1, 2), noon), null, 'off');
});

t.test('refused openers count as far as they can restrict', async (t) => {
  const since = (...seconds: number[]) =>
    noon -
    safetySince(
      settings.safety,
      seconds.map((s) => noon - s * 1000),
      noon,
    );
  t.equal(since(1, 2), 600_000, 'short of it: all of the window');
  t.equal(since(4, 1, 3, 2, 601), 3_000, 'as many as restrict');
  t.equal(since(-5, -6, -7, 1), 600_000, 'not what lies ahead of a clock that was set back');
});

t.test('a clock that was set back fills no window', async (t) => {
  const ahead = [3_590, 3_595, 3_600].map((seconds) => noon + seconds * 1000);
  const { loopGuard: loop, openerBurst: burst, safety } = settings;
  t.equal(loopGuard(loop, ahead, ahead, noon), null);
  t.equal(openerBurst(burst, ahead, noon), null);
  t.equal(safetyHold(safety, ahead, noon), null);
  t.equal(
    openerBurst(burst, [...ahead, noon - 1000, noon], noon),
    59_000,
    'what came since counts',
  );
});
