import { describe, expect, test } from 'vitest';
import type { KnownOperation } from '../../src/graphql/execution/execute.ts';
import { createDocumentCache, type DocumentCache } from '../../src/graphql/execution/fast-path.ts';

/** The cache hands on what it is given without looking into it. */
const operation = (name: string) => ({ name }) as unknown as KnownOperation;

/** A document with `length` characters that differs from those of other numbers. */
const document = (number: number, length = 20) => `{ a${number} }`.padEnd(length);

function addTwice(cache: DocumentCache, source: string, added: KnownOperation): void {
  for (let time = 0; time < 2; time += 1) cache.add(source, added);
}

function cacheOf(count: number, length?: number) {
  const cache = createDocumentCache();
  for (let number = 0; number < count; number += 1) addTwice(cache, document(number, length), operation(`${number}`));
  const kept = () => Array.from({ length: count }, (_, number) => number).filter((number) => cache.get(document(number, length)));
  return { cache, kept };
}

describe('the document cache', () => {
  test('returns the operation that was added for the second time, and none before', () => {
    const { cache } = cacheOf(0);
    const added = operation('a');
    cache.add('{ a }', operation('first'));
    expect(cache.get('{ a }')).toBeUndefined();
    cache.add('{ a }', added);
    expect(cache.get('{ a }')).toBe(added);
    expect(cache.get('{ b }')).toBeUndefined();
  });

  test('keeps the first operation of a document', () => {
    const { cache } = cacheOf(0);
    const first = operation('first');
    addTwice(cache, '{ a }', first);
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
    addTwice(cache, document(1, characters), operation('long'));
    expect(cache.get(document(1, characters)) !== undefined).toBe(isKept);
  });

  test('keeps what is in use when any number of other documents are sent once', () => {
    const { cache } = cacheOf(1);
    for (let number = 1; number < 2_000; number += 1) cache.add(document(number), operation('once'));
    expect(cache.get(document(0))).toBeDefined();
  });

  test('drops the least recently used, not the oldest', () => {
    const { cache } = cacheOf(500);
    expect(cache.get(document(0))).toBeDefined();
    addTwice(cache, document(500), operation('one too many'));
    expect(cache.get(document(0))).toBeDefined();
    expect(cache.get(document(1))).toBeUndefined();
  });
});
