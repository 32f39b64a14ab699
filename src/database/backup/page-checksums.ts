const pageBytes = 8_192;
/** How many pages a file has at most: the rest of a table is in files with the suffix .1, .2 and so on. */
const pagesPerFile = 131_072;

/** Files of tables and indexes. Not those of free space (`_fsm`): PostgreSQL repairs these by itself. */
const pagesFile = /^(?:base\/\d+|global)\/\d+(?:_vm|_init)?(?:\.(\d+))?$/;

/** Finds the number, within a file, of a page in a part of it that is not as PostgreSQL wrote it; undefined if there is none. */
export type FindDamaged = (part: Buffer, offset: number) => number | undefined;

/**
 * Creates what checks the pages of a file.
 *
 * @param path relative to the data directory, with slashes.
 * @returns nothing for a file without pages.
 */
export function createPageCheck(path: string): FindDamaged | undefined {
  const match = pagesFile.exec(path);
  if (!match) return undefined;
  const firstPage = Number(match[1] ?? 0) * pagesPerFile;
  return (part, offset) => {
    for (let start = 0; start + pageBytes <= part.length; start += pageBytes) {
      const page = (offset + start) / pageBytes;
      const words = new Uint32Array(part.buffer, part.byteOffset + start, pageBytes / 4);
      if (!isIntact(words, firstPage + page)) return page;
    }
    return undefined;
  };
}

/** The low half of this word of a page is its checksum, in which it counts as 0. */
const checksumWord = 2;

/** Pages that were never used are all zeros. */
const isIntact = (words: Uint32Array, number: number): boolean =>
  ((words[checksumWord] as number) & 0xffff) === checksumOf(words, number) || words.every((word) => word === 0);

/** What the sums of a page begin with, as in PostgreSQL's `storage/checksum_impl.h`. */
const offsetBasis = Uint32Array.from([
  0x5b1f36e9, 0xb8525960, 0x02ab50aa, 0x1de66d2a, 0x79ff467a, 0x9bb9f8a3, 0x217e7cd2, 0x83e13d2c, 0xf8d4474f, 0xe39eb970,
  0x42c6ae16, 0x993216fa, 0x7b093b5d, 0x98daff3c, 0xf718902a, 0x0b1c9cdb, 0xe58f764b, 0x187636bc, 0x5d7b3bb1, 0xe73de7de,
  0x92bec979, 0xcca6c0b2, 0x304a0979, 0x85aa43d4, 0x783125bb, 0x6ca8eaa2, 0xe407eac6, 0x4b5cfc3e, 0x9fbf8c76, 0x15ca20be,
  0xf2ca9fd3, 0x959bd756,
]);
const fnvPrime = 16_777_619;

/** The checksum that PostgreSQL gives a page: each column of its words, and two zeros, is hashed by a variant of FNV-1a. */
function checksumOf(words: Uint32Array, number: number): number {
  const columns = offsetBasis.length;
  let all = number;
  for (let column = 0; column < columns; column += 1) {
    let sum = offsetBasis[column] as number;
    for (let index = column; index < words.length; index += columns) {
      const word = words[index] as number;
      sum = hash(sum, index === checksumWord ? word & 0xffff0000 : word);
    }
    all ^= hash(hash(sum, 0), 0);
  }
  return ((all >>> 0) % 65_535) + 1;
}

function hash(sum: number, word: number): number {
  const mixed = sum ^ word;
  return Math.imul(mixed, fnvPrime) ^ (mixed >>> 17);
}
