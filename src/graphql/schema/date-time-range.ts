import { builder } from './builder.ts';

/** A range of time in a filter. */
export const DateTimeRangeInput = builder.inputType('DateTimeRange', {
  description: 'A range of time. Omit one side to leave it open.',
  fields: (t) => ({
    from: t.field({ type: 'DateTime', description: 'The beginning, which is included.' }),
    to: t.field({ type: 'DateTime', description: 'The end, which is excluded.' }),
  }),
});
