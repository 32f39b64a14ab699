import { z } from 'zod';

/** What the schema states about a value beyond its type. The rules and the JSON Schema both read it, so they cannot disagree. */
export interface Annotations {
  /** The diagnostic for a missing field; `required` by default for a field that zod requires. */
  readonly absent?: 'missing-field' | 'background-incomplete';
  /** What a string refers to: a page or another file of the site, a declared version, or a prefix of page paths. */
  readonly refersTo?: 'page' | 'file' | 'version' | 'pages-below';
  /** A string that declares a version. */
  readonly declaresVersion?: true;
  /** An empty or blank string, or an empty array, is a warning. */
  readonly filled?: true;
  /** The keys are platforms, and any other key is an error. */
  readonly platforms?: true;
  /** The keys that are meant by other words. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** A constraint that depends on the value of another field of the same object. */
  readonly when?: Condition;
  /** An object is valid here only when nested groups are allowed. */
  readonly nested?: true;
}

/** A constraint that applies while `field` has the value `is`. */
interface Condition {
  readonly field: string;
  readonly is: string;
  /** It applies also while the field is missing. */
  readonly orAbsent?: true;
  /** This field is required. */
  readonly requires?: string;
  /** This field, when it is a string, matches this pattern. */
  readonly form?: { readonly field: string; readonly pattern: string };
}

/** The annotations of each zod schema. */
export const annotationRegistry = z.registry<Annotations>();

/** Adds annotations to a zod schema and returns it. */
export function annotate<T extends z.ZodType>(schema: T, annotations: Annotations): T {
  annotationRegistry.add(schema, annotations);
  return schema;
}
