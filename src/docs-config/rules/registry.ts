import { duplicateKey, nestedGroup, socialPlatform, unknownProperty } from './keys.ts';
import { jsonSyntax, tooDeep, tooManyFindings } from './limits.ts';
import { newerFormat } from './newer-format.ts';
import { backgroundIncomplete, missingField, required } from './presence.ts';
import { duplicatePage, missingFile, undeclaredVersion, unmatchedUrl } from './references.ts';
import type { Rule } from './rule.ts';
import { basicAuthName, emptyValue, enumeration, hexColor, rootType, type } from './values.ts';

/** Every rule by its code. What a page, a severity, SARIF or a validation knows of rules, it knows from here. */
export const rules = {
  'json-syntax': jsonSyntax,
  'root-type': rootType,
  required,
  'background-incomplete': backgroundIncomplete,
  type,
  enum: enumeration,
  'hex-color': hexColor,
  'nested-group': nestedGroup,
  'social-platform': socialPlatform,
  'basic-auth-name': basicAuthName,
  'newer-format': newerFormat,
  'unknown-property': unknownProperty,
  'missing-field': missingField,
  'duplicate-key': duplicateKey,
  'empty-value': emptyValue,
  'duplicate-page': duplicatePage,
  'undeclared-version': undeclaredVersion,
  'unmatched-url': unmatchedUrl,
  'missing-file': missingFile,
  'too-deep': tooDeep,
  'too-many-findings': tooManyFindings,
} satisfies Readonly<Record<string, Rule>>;

/** What a finding can be. */
export type Code = keyof typeof rules;

/** Every code, in the order of the table. */
export const codes = Object.keys(rules) as readonly Code[];

/** Whether a text is a code. */
export function isCode(text: string): text is Code {
  return Object.hasOwn(rules, text);
}

/** The path of a rule's page. */
export function pagePath(code: Code): string {
  return `/docs/docs-config/${code}`;
}
