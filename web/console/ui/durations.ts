/** For how long a replaced secret may stay accepted, as people choose it; values are seconds. */
export const overlaps = [
  { value: '0', label: 'It stops working at once' },
  { value: '300', label: 'For 5 minutes' },
  { value: '3600', label: 'For 1 hour' },
  { value: '86400', label: 'For 1 day' },
  { value: '604800', label: 'For 7 days' },
] as const;

/** One of {@link overlaps}. */
export type Overlap = (typeof overlaps)[number]['value'];
