import fc from 'fast-check';
import { type Draft, draft } from '../../test/support/model-operations.ts';
import { gatewayCount } from './gateways.ts';

/** A request: one operation, or several creations in bulk. */
export interface Call {
  readonly drafts: readonly Draft[];
  readonly isBulk: boolean;
  readonly gateway: number;
  /** Whether it has an Idempotency-Key, if it is a mutation. */
  readonly isKeyed: boolean;
}

/** Concurrent requests, during which a gateway may be killed. */
export interface Step {
  readonly calls: readonly Call[];
  readonly crash: { readonly gateway: number; readonly afterMs: number } | undefined;
}

const gateway = fc.nat({ max: gatewayCount - 1 });
const single = draft.map((each) => [each]);
const bulk = fc.tuple(draft, draft).map(([first, second]) => [
  { ...first, kind: 'getOrCreate' as const },
  // With another id, because the order of equal ones matters to no caller.
  { ...second, kind: 'getOrCreate' as const, caller: first.caller, id: 1 - first.id },
]);
const call: fc.Arbitrary<Call> = fc
  .record({
    drafts: fc.oneof({ weight: 7, arbitrary: single }, { weight: 1, arbitrary: bulk }),
    gateway,
    isKeyed: fc.boolean(),
  })
  .map((each) => ({ ...each, isBulk: each.drafts.length > 1 }));
const crash = fc.record({ gateway, afterMs: fc.nat({ max: 8 }) });

/** The steps of a history. */
export const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    calls: fc.array(call, { minLength: 1, maxLength: 3 }),
    crash: fc.oneof({ weight: 12, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: crash }),
  }),
  { minLength: 5, maxLength: 14 },
);
