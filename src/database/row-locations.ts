/** Locations that one set of slots holds: a full set gives up one of them for the next. */
const ways = 16;

/** The 32-bit words of a slot: part of the hash, block, line pointer. An empty slot has the line pointer 0, which no row has. */
const slotWords = 3;

const setWords = ways * slotWords;

/** Sets of the first table: 768 bytes, because each unit of work has one. */
const firstSets = 4;

/** The most sets of a table: 24 MiB. */
const maxSets = 131_072;

/** A table takes new locations until it is so full: in fuller ones many sets would have no free slot. */
const maxLoad = 5 / 8;

/** A `tid` as PostgreSQL writes it. */
const tidPattern = /^\((\d+),(\d+)\)$/;

/**
 * Remembers where rows were last seen, by the hash of a unique key, so that a statement can read a row at its `ctid` instead of
 * descending an index for it.
 *
 * A location is a hint: the caller must compare the key of the row that is found there, because the row may have moved, and two
 * hashes that share 32 bits share a location. The memory is bounded: two tables of 24 MiB at most, and one that was replaced
 * until it is collected; some 20 to 60 bytes for each location. Those that were not used for longest are forgotten, and a few
 * others because their set is full.
 *
 * @example
 * const locations = createRowLocations();
 * locations.set('0f…9c', '(12,3)');
 * locations.get('0f…9c'); // '(12,3)'
 */
export interface RowLocations {
  /** @param hash at least 8 hexadecimal digits; the last ones must be evenly distributed. */
  get(hash: string): string | undefined;
  /** @param tid as PostgreSQL writes it: `(block,line pointer)`. Anything else is ignored. */
  set(hash: string, tid: string): void;
  /** Forgets the location of a row that was not found there. */
  delete(hash: string): void;
}

/** Creates an empty memory of locations. @param limit the most sets of 16 locations a table grows to, a power of two. */
export function createRowLocations(limit: number = maxSets): RowLocations {
  let current = new Table(Math.min(firstSets, limit));
  /** The table before, read until the next one is full: what is used moves on. */
  let previous = new Table(1);
  /** How many sets of it are still to move: one with each new location. All at once would block the event loop for 30 ms. */
  let setsToMove = 0;

  function put(tag: number, block: number, line: number): void {
    if (current.isFull) {
      previous = current;
      current = new Table(Math.min(previous.sets * 2, limit));
      // A table of the same size has no room for all of them: only those that are used move.
      setsToMove = current.sets > previous.sets ? previous.sets : 0;
    }
    if (setsToMove > 0) {
      setsToMove -= 1;
      previous.moveSet(setsToMove, current);
    }
    current.put(tag, block, line);
  }

  return {
    get(hash) {
      const tag = tagOf(hash);
      const slot = current.find(tag);
      if (slot >= 0) return current.tid(slot);
      const older = previous.find(tag);
      if (older < 0) return undefined;
      const tid = previous.tid(older);
      put(tag, previous.words[older + 1] as number, previous.words[older + 2] as number);
      return tid;
    },
    set(hash, tid) {
      const [, block, line] = tidPattern.exec(tid) ?? [];
      if (block === undefined) return;
      const tag = tagOf(hash);
      put(tag, Number(block), Number(line));
      previous.delete(tag); // the location before: it would be found again once this one is forgotten
    },
    delete(hash) {
      const tag = tagOf(hash);
      for (const table of [current, previous]) table.delete(tag);
    },
  };
}

/** The last 32 bits of a hash: its first ones may say which key it was made with. */
const tagOf = (hash: string): number => Number.parseInt(hash.slice(-8), 16);

/** Sets of slots in one array. */
class Table {
  readonly words: Uint32Array;
  readonly sets: number;
  private used = 0;
  /** The way that a full set gives up next. */
  private victim = 0;

  constructor(sets: number) {
    this.sets = sets;
    this.words = new Uint32Array(sets * setWords);
  }

  get isFull(): boolean {
    return this.used >= this.sets * ways * maxLoad;
  }

  /** Where the slot of a tag begins; -1 if it has none. */
  find(tag: number): number {
    const first = this.setOf(tag);
    for (let slot = first; slot < first + setWords; slot += slotWords) {
      if (this.words[slot] === tag && this.words[slot + 2] !== 0) return slot;
    }
    return -1;
  }

  tid(slot: number): string {
    return `(${this.words[slot + 1]},${this.words[slot + 2]})`;
  }

  put(tag: number, block: number, line: number): void {
    const slot = this.slotFor(tag);
    if (this.words[slot + 2] === 0) this.used += 1;
    this.words[slot] = tag;
    this.words[slot + 1] = block;
    this.words[slot + 2] = line;
  }

  delete(tag: number): void {
    const slot = this.find(tag);
    if (slot < 0) return;
    this.words[slot + 2] = 0;
    this.used -= 1;
  }

  /** Copies the locations of one set to another table, which has no newer ones: what is replaced is deleted here. */
  moveSet(set: number, target: Table): void {
    for (let slot = set * setWords; slot < (set + 1) * setWords; slot += slotWords) {
      const [tag, block, line] = [this.words[slot] as number, this.words[slot + 1] as number, this.words[slot + 2] as number];
      if (line !== 0) target.put(tag, block, line);
    }
  }

  private setOf(tag: number): number {
    return (tag & (this.sets - 1)) * setWords;
  }

  /** The slot that a tag has, a free one of its set, or that of another tag. */
  private slotFor(tag: number): number {
    const own = this.find(tag);
    if (own >= 0) return own;
    const first = this.setOf(tag);
    for (let slot = first; slot < first + setWords; slot += slotWords) if (this.words[slot + 2] === 0) return slot;
    this.victim = (this.victim + 1) % ways;
    return first + this.victim * slotWords;
  }
}
