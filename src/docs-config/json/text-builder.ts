/** A text in parts, of which few are kept: each takes more memory than a few characters. */
export class TextBuilder {
  private readonly joined: string[] = [];
  private parts: string[] = [];

  /** Adds a part to the end. */
  add(part: string): void {
    if (this.parts.push(part) < 1_000) return;
    this.joined.push(this.parts.join(''));
    this.parts = [];
  }

  /** The parts so far, as one text. */
  toString(): string {
    return this.joined.join('') + this.parts.join('');
  }
}
