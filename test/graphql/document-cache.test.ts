import { describe, expect, test } from 'vitest';
import { createDocumentCache } from '../../src/graphql/execution/documents.ts';
import type { KnownOperation } from '../../src/graphql/execution/execute.ts';

/** The cache hands on what it is given without looking into it. */
const operation = (name: string) => ({ name }) as unknown as KnownOperation;

/** A document with `length` characters that differs from those of other numbers. */
const document = (number: number, length = 20) => `{ a${number} }`.padEnd(length);

function cacheOf(count: number, length?: number) {
  const cache = createDocumentCache();
  for (let number = 0; number < count; number += 1) cache.add(document(number, length), operation(`${number}`));
  const kept = () => Array.from({ length: count }, (_, number) => number).filter((number) => cache.get(document(number, length)));
  return { cache, kept };
}

describe('the document cache', () => {
  test('returns the operation that was added', () => {
    const { cache } = cacheOf(0);
    const added = operation('a');
    cache.add('{ a }', added);
    expect(cache.get('{ a }')).toBe(added);
    expect(cache.get('{ b }')).toBeUndefined();
  });

  test('keeps the first operation of a document', () => {
    const { cache } = cacheOf(0);
    const first = operation('first');
    cache.add('{ a }', first);
    cache.add('{ a }', operation('second'));
    expect(cache.get('{ a }')).toBe(first);
  });

  test.each([
    { what: '500 documents', count: 600, length: 20, firstKept: 100 },
    { what: '200,000 characters', count: 100, length: 4_000, firstKept: 50 },
  ])('keeps at most $what, and drops the oldest first', ({ count, length, firstKept }) => {
    const numbers = cacheOf(count, length).kept();
    expect(numbers).toEqual(Array.from({ length: count - firstKept }, (_, index) => firstKept + index));
  });

  test.each([
    { characters: 10_000, isKept: true },
    { characters: 10_001, isKept: false },
  ])('a document of $characters characters: kept $isKept', ({ characters, isKept }) => {
    const { cache } = cacheOf(0);
    cache.add(document(1, characters), operation('long'));
    expect(cache.get(document(1, characters)) !== undefined).toBe(isKept);
  });

  test('drops the least recently used, not the oldest', () => {
    const { cache } = cacheOf(500);
    expect(cache.get(document(0))).toBeDefined();
    cache.add(document(500), operation('one too many'));
    expect(cache.get(document(0))).toBeDefined();
    expect(cache.get(document(1))).toBeUndefined();
  });
});
