export { docsConfigJsonSchema } from './json-schema.ts';
export type { Range } from './positions.ts';
export { type CheckedFile, explain } from './pretty.ts';
export { type Format, formats } from './programs.ts';
export { type Code, codes, isCode, rules } from './rules/registry.ts';
export { type Level, type Rule, shortenExample } from './rules/rule.ts';
export { type Diagnostic, fixedCodes, type Report, type ValidateOptions, validate, withDefaults } from './validate.ts';
export { didYouMean } from './words.ts';
