import { jsonSyntax, newerFormat, tooDeep, tooManyDiagnostics } from './document.ts';
import {
  backgroundIncomplete,
  duplicateKey,
  missingField,
  nestedGroup,
  required,
  socialPlatform,
  unknownProperty,
} from './keys.ts';

import { duplicatePage, missingFile, undeclaredVersion, unmatchedUrl } from './references.ts';
import type { Rule } from './rule.ts';
import { basicAuthName, emptyValue, enumeration, hexColor, rootType, type } from './values.ts';

/** Every rule by its code. Adding a rule here adds it to validation, reports, explanations and pages. */
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
  'too-many-findings': tooManyDiagnostics,
} satisfies Readonly<Record<string, Rule>>;

/** The code of a diagnostic. */
export type Code = keyof typeof rules;

/** Every code, in the order of {@link rules}. */
export const codes = Object.keys(rules) as readonly Code[];

/** Whether a text is a code. */
export function isCode(text: string): text is Code {
  return Object.hasOwn(rules, text);
}
