import { readFileSync } from 'node:fs';

/** Every token has this many characters, so that tokens can be concatenated in one buffer. */
export const tokenLength = 40;

/** Groups are numbered from here, so that every number has seven digits and every response of a workload the same length. */
export const firstTeamId = 1_000_001;

/** The environments of groups and callers, alternating. */
export const environments = ['Customer', 'Testing'] as const;

/** An environment tag as the database and the legacy API write it. */
export type Environment = (typeof environments)[number];

/** A stored user group; everything else follows from its index. */
export interface Row {
  readonly teamId: number;
  readonly providedId: string;
  readonly name: string;
  readonly environment: Environment;
  readonly properties: { readonly country: string; readonly seats: number };
  /** When it was created: a group is newer than those before it, by a millisecond. */
  readonly createdAtMs: number;
}

/** When the first group was created. */
export const firstCreatedAtMs = Date.UTC(2026, 0, 1);

/** The environment of the group with an index. */
export const environmentOf = (index: number): Environment => (index % 2 === 0 ? 'Customer' : 'Testing');

/** The index of the newest group of an environment when `count` groups are seeded. */
export const newestOf = (environment: Environment, count: number): number =>
  environmentOf(count - 1) === environment ? count - 1 : count - 2;

/** The group's own number within its provided id and name: seven digits. */
export const digitsOf = (index: number): string => String(index + 1).padStart(7, '0');

/** The group with an index, as it is seeded. */
export function rowOf(index: number): Row {
  return {
    teamId: firstTeamId + index,
    providedId: `group-${digitsOf(index)}`,
    name: `Group ${digitsOf(index)}`,
    environment: environmentOf(index),
    properties: { country: 'BE', seats: 10 + (index % 90) },
    createdAtMs: firstCreatedAtMs + index,
  };
}

/** The number that an update wrote last; seven digits, so that every request has the same length. */
let lastRevision = 1_000_000;

/** The groups of a database with their current tokens, updated by rotations. */
export class Groups {
  readonly count: number;
  private readonly tokens: Buffer;
  private readonly busy: Uint8Array;
  private readonly sent: Uint32Array;
  private readonly stored: Uint32Array;

  constructor(file: string) {
    this.tokens = readFileSync(file);
    this.count = this.tokens.length / tokenLength;
    this.busy = new Uint8Array(this.count);
    this.sent = new Uint32Array(this.count);
    this.stored = new Uint32Array(this.count);
  }

  /** The current token of a group. */
  token(index: number): string {
    return this.tokens.toString('latin1', index * tokenLength, (index + 1) * tokenLength);
  }

  /** Writes the current token of a group into a request. */
  copyToken(index: number, target: Buffer, at: number): void {
    this.tokens.copy(target, at, index * tokenLength, (index + 1) * tokenLength);
  }

  /** Stores the token that a rotation returned. */
  replaceToken(index: number, source: Buffer, at: number): void {
    source.copy(this.tokens, index * tokenLength, at, at + tokenLength);
  }

  /** A random group. */
  draw(): number {
    return Math.floor(Math.random() * this.count);
  }

  /** A random group that no other connection is rotating; {@link release} it afterwards. */
  drawIdle(): number {
    for (;;) {
      const index = this.draw();
      if (this.busy[index]) continue;
      this.busy[index] = 1;
      return index;
    }
  }

  release(index: number): void {
    this.busy[index] = 0;
  }

  /** Chooses the number that the next update of a group writes: no other update writes it. */
  revise(index: number): void {
    this.sent[index] = ++lastRevision;
  }

  /** The number that the update in flight writes. */
  revision(index: number): number {
    return this.sent[index] ?? 0;
  }

  /** Records that the update got its response. */
  settleRevision(index: number): void {
    this.stored[index] = this.revision(index);
  }

  /** The number of the last update that got its response; 0 for none. */
  storedRevision(index: number): number {
    return this.stored[index] ?? 0;
  }
}
