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

/** The faults of a text: its length in characters, and what no database text can hold. */
export function textIssues(path: Path, text: string, minLength = 1): Issue[] {
  const issue = characterIssue(path, text);
  if (issue) return [issue];
  const tooLong = text.length > maxTextLength && [...text].length > maxTextLength;
  if (!tooLong && text.length >= minLength) return [];
  return [{ path, message: `must have ${minLength > 0 ? `${minLength} to` : 'at most'} ${maxTextLength} characters.` }];
}

/** The faults of a mapping: the number of entries, each side's text, a schema id given twice. */
export function mappingIssues(path: Path, mapping: readonly DataSourceMapping[]): Issue[] {
  if (mapping.length > maxMappingEntries) return [{ path, message: `must have at most ${maxMappingEntries} entries.` }];
  const seen = new Set<string>();
  return mapping.flatMap(({ schemaId, dataSource }, index) => {
    const issues = [
      ...textIssues([...path, index, 'schemaId'], schemaId, 0),
      ...reservedNameIssues([...path, index, 'schemaId'], schemaId),
      ...textIssues([...path, index, 'dataSource'], dataSource, 0),
    ];
    if (seen.has(schemaId)) issues.push({ path: [...path, index, 'schemaId'], message: 'is given twice.' });
    seen.add(schemaId);
    return issues;
  });
}

/** The faults of properties: not an object, too deep, too large, or values that are not the same when read again. */
export function propertiesIssues(path: Path, properties: Json): Issue[] {
  if (typeof properties !== 'object' || properties === null || Array.isArray(properties)) {
    return [{ path, message: 'must be a JSON object.' }];
  }
  const issues = valueIssues(path, properties, 1);
  // The depth is known to be bounded only now, so that printing cannot exhaust the stack.
  if (issues.length === 0 && Buffer.byteLength(JSON.stringify(properties)) > maxPropertiesBytes) {
    issues.push({ path, message: `must have at most ${maxPropertiesBytes / 1024} KiB as JSON.` });
  }
  return issues;
}

function valueIssues(path: Path, value: Json, depth: number): Issue[] {
  if (typeof value === 'string') {
    const issue = characterIssue(path, value);
    return issue ? [issue] : [];
  }
  if (typeof value === 'number') {
    return Number.isFinite(value)
      ? []
      : [{ path, message: 'is a number that JSON readers do not carry exactly; send it as a string.' }];
  }
  if (typeof value !== 'object' || value === null) return [];
  if (depth > maxPropertiesDepth) return [{ path, message: `is nested more than ${maxPropertiesDepth} levels deep.` }];
  if (Array.isArray(value)) return value.flatMap((item, index) => valueIssues([...path, index], item, depth + 1));
  return Object.entries(value).flatMap(([member, item]) => {
    const issue = characterIssue(path, member);
    const names = issue ? [issue] : reservedNameIssues([...path, member], member);
    return [...names, ...valueIssues([...path, member], item, depth + 1)];
  });
}

function characterIssue(path: Path, text: string): Issue | undefined {
  if (text.includes('\0')) return { path, message: 'must not hold the character NUL (U+0000).' };
  if (!text.isWellFormed()) return { path, message: 'must not hold a lone surrogate (half of a character).' };
  return undefined;
}

/** The one name that JavaScript libraries between us and the database take for more than data. */
function reservedNameIssues(path: Path, name: string): Issue[] {
  return name === '__proto__' ? [{ path, message: 'is a reserved name.' }] : [];
}
