import { readAcceptItem } from './media-types.ts';

/** The content codings of files, the preferred one first: a client that accepts several equally gets it. */
export const contentCodings = ['br', 'gzip', 'identity'] as const;

/** How the content of a response is encoded; `identity` is without a coding. */
export type ContentCoding = (typeof contentCodings)[number];

/**
 * Chooses the coding that an `Accept-Encoding` header prefers, as RFC 9110 says: without the header nothing is encoded, `*`
 * stands for every coding that is not named, and `identity` is acceptable unless it is excluded. Linear in the length of the
 * header.
 *
 * @param available the codings to choose from, `identity` among them: it is chosen if none is acceptable.
 */
export function chooseCoding(acceptEncoding: string | undefined, available: readonly ContentCoding[]): ContentCoding {
  if (acceptEncoding === undefined) return 'identity';
  const qualities = new Map<string, number>();
  for (const item of acceptEncoding.split(',')) {
    const { name, quality } = readAcceptItem(item);
    qualities.set(name === 'x-gzip' ? 'gzip' : name, quality);
  }
  const others = qualities.get('*') ?? 0;
  let chosen: ContentCoding = 'identity';
  // Acceptable even where it is not named, but less than everything that is.
  let best = qualities.get('identity') ?? (qualities.has('*') ? others : Number.MIN_VALUE);
  for (const coding of contentCodings) {
    if (coding === 'identity' || !available.includes(coding)) continue;
    const quality = qualities.get(coding) ?? others;
    if (quality > best || (quality === best && quality > 0 && chosen === 'identity')) {
      chosen = coding;
      best = quality;
    }
  }
  return chosen;
}
