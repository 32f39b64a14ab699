import type { Issue } from './errors.ts';

/** What a value may be in JSON. */
export type Json = null | boolean | number | string | Json[] | { [member: string]: Json };

/** Where the data of one schema comes from. */
export interface DataSourceMapping {
  readonly schemaId: string;
  readonly dataSource: string;
}

/** The most characters (code points) that an id, a name, and either side of a mapping entry may have. */
const maxTextLength = 255;
const maxMappingEntries = 1_000;
const maxPropertiesBytes = 64 * 1024;
const maxPropertiesDepth = 32;

type Path = Issue['path'];

/** How many faults are told: enough to mend several at once, and an answer that stays small whatever is sent. */
const maxIssues = 10;

/** How much of a member's name a path shows. */
const maxShownName = 64;

/** The faults of a text: its length in characters, and what no database text can hold. */
export function textIssues(path: Path, text: string, minLength = 1): Issue[] {
  const fault = textFault(text, minLength);
  return fault ? [{ path, message: fault }] : [];
}

/** The faults of a mapping: the number of entries, each side's text, a schema id given twice. At most ten are told. */
export function mappingIssues(path: Path, mapping: readonly DataSourceMapping[]): Issue[] {
  if (mapping.length > maxMappingEntries) return [{ path, message: `must have at most ${maxMappingEntries} entries.` }];
  const issues: Issue[] = [];
  const seen = new Set<string>();
  for (const [index, { schemaId, dataSource }] of mapping.entries()) {
    const twice = seen.has(schemaId) ? 'is given twice.' : undefined;
    const schemaFault = textFault(schemaId, 0) ?? nameFault(schemaId) ?? twice;
    const sourceFault = textFault(dataSource, 0);
    if (schemaFault) issues.push({ path: [...path, index, 'schemaId'], message: schemaFault });
    if (sourceFault) issues.push({ path: [...path, index, 'dataSource'], message: sourceFault });
    if (issues.length >= maxIssues) break;
    seen.add(schemaId);
  }
  return issues;
}

/** The faults of properties: not an object, too deep, too large, or values that are not the same when read again. At most ten are told. */
export function propertiesIssues(path: Path, properties: Json): Issue[] {
  if (typeof properties !== 'object' || properties === null || Array.isArray(properties)) {
    return [{ path, message: 'must be a JSON object.' }];
  }
  const issues: Issue[] = [];
  collectIssues(properties, [...path], 1, issues);
  // The depth is known to be bounded only now, so that printing cannot exhaust the stack.
  if (issues.length === 0 && Buffer.byteLength(JSON.stringify(properties)) > maxPropertiesBytes) {
    issues.push({ path, message: `must have at most ${maxPropertiesBytes / 1024} KiB as JSON.` });
  }
  return issues;
}

/** Walks through a value; `path` is where it is, the same list throughout. */
function collectIssues(value: Json, path: (string | number)[], depth: number, issues: Issue[]): void {
  const fault = valueFault(value, depth);
  if (fault) return void issues.push({ path: path.map(shorten), message: fault });
  if (typeof value !== 'object' || value === null) return;
  const members = Array.isArray(value) ? value.entries() : Object.entries(value);
  for (const [member, item] of members) {
    if (issues.length >= maxIssues) return;
    path.push(member);
    const name = typeof member === 'string' ? (characterFault(member) ?? nameFault(member)) : undefined;
    if (name) issues.push({ path: path.map(shorten), message: name });
    else collectIssues(item, path, depth + 1, issues);
    path.pop();
  }
}

function valueFault(value: Json, depth: number): string | undefined {
  if (typeof value === 'string') return characterFault(value);
  if (typeof value === 'number' && !Number.isFinite(value)) {
    return 'is a number that JSON readers do not carry exactly; send it as a string.';
  }
  const tooDeep = depth > maxPropertiesDepth && typeof value === 'object' && value !== null;
  return tooDeep ? `is nested more than ${maxPropertiesDepth} levels deep.` : undefined;
}

function textFault(text: string, minLength: number): string | undefined {
  const tooLong = text.length > maxTextLength && [...text].length > maxTextLength;
  if (tooLong || text.length < minLength) {
    return `must have ${minLength > 0 ? `${minLength} to` : 'at most'} ${maxTextLength} characters.`;
  }
  return characterFault(text);
}

function characterFault(text: string): string | undefined {
  if (text.includes('\0')) return 'must not hold the character NUL (U+0000).';
  return text.isWellFormed() ? undefined : 'must not hold a lone surrogate (half of a character).';
}

/** The one name that JavaScript libraries between us and the database take for more than data. */
function nameFault(name: string): string | undefined {
  return name === '__proto__' ? 'is a reserved name.' : undefined;
}

const shorten = (segment: string | number): string | number =>
  typeof segment === 'string' && segment.length > maxShownName ? `${segment.slice(0, maxShownName)}…` : segment;
