import {
  codes,
  type Diagnostic,
  fixedCodes,
  isCode,
  type Level,
  type Range,
  type Report,
  validate,
  withDefaults,
} from '@user-group-gateway/docs-config';
import { InvalidInput } from '../errors.ts';
import { builder } from '../graphql/builder.ts';
import type { FieldCost } from '../graphql/limits.ts';
import { docsConfigCodePath, paths } from '../http/paths.ts';

/** The most bytes of a document, which is checked within the request. */
const maxDocumentBytes = 256 * 1_024;

const PositionType = builder.objectRef<Range['start']>('DocsConfigPosition').implement({
  description: 'A position in the text.',
  fields: (t) => ({
    line: t.exposeInt('line', { description: 'The line, from 1.' }),
    column: t.exposeInt('column', { description: 'The column, from 1, in UTF-16 code units.' }),
    offset: t.exposeInt('offset', { description: 'The offset from the beginning, from 0, in UTF-16 code units.' }),
  }),
});

const RangeType = builder.objectRef<Range>('DocsConfigRange').implement({
  description: 'A part of the text.',
  fields: (t) => ({
    start: t.expose('start', { type: PositionType, description: 'The start.' }),
    end: t.expose('end', { type: PositionType, description: 'The end: the first position after the range.' }),
  }),
});

const SeverityType = builder.enumType('DocsConfigSeverity', {
  description: 'The severity of a diagnostic.',
  values: {
    ERROR: { value: 'error', description: 'The file is not valid.' },
    WARNING: { value: 'warning', description: 'The file is valid, but probably not as intended.' },
  } as const,
});

const DiagnosticType = builder.objectRef<Diagnostic>('DocsConfigDiagnostic').implement({
  description: 'An error or a warning about the file.',
  fields: (t) => ({
    code: t.exposeString('code', { description: 'The rule, such as `hex-color`.' }),
    severity: t.expose('severity', { type: SeverityType, description: 'Error or warning.' }),
    message: t.exposeString('message', { description: 'What is wrong, with the value found.' }),
    pointer: t.exposeString('pointer', { description: 'JSON pointer to the value; for a missing field, to where it would be.' }),
    range: t.expose('range', {
      type: RangeType,
      description: 'The location in the text; for an input by `value`, in its text with an indentation of 2.',
    }),
    suggestion: t.exposeString('suggestion', { nullable: true, description: 'What to do; null if the message says so.' }),
    url: t.string({
      description: 'The path of the page about the rule on this server.',
      resolve: ({ code }) => docsConfigCodePath(code),
    }),
  }),
});

const ReportType = builder.objectRef<Report>('DocsConfigReport').implement({
  description: 'The result of checking a configuration file.',
  fields: (t) => ({
    valid: t.exposeBoolean('valid', { description: 'Whether there are no errors.' }),
    errorCount: t.exposeInt('errorCount', { description: 'The number of errors. The check ends at 1,001.' }),
    warningCount: t.exposeInt('warningCount', { description: 'The number of warnings, counted up to 1,001.' }),
    diagnostics: t.field({
      type: [DiagnosticType],
      extensions: { listSize: () => 100 } satisfies FieldCost,
      description: 'The diagnostics in document order, at most 1,000; if there are more, the last one says so.',
      resolve: ({ diagnostics }) => [...diagnostics],
    }),
    config: t.field({
      type: 'JSON',
      nullable: true,
      extensions: { heavy: 8 } satisfies FieldCost, // as long as the document, and the diagnostics as well
      description: `The document with every default filled in, as the JSON Schema at \`${paths.docsConfigSchema}\` describes it; null if there are errors.`,
      resolve: (report) => withDefaults(report),
    }),
  }),
});

const LevelType = builder.enumType('DocsConfigLevel', {
  description: 'The severity of the diagnostics of a rule, or off.',
  values: {
    ERROR: { value: 'error', description: 'An error.' },
    WARNING: { value: 'warning', description: 'A warning.' },
    OFF: { value: 'off', description: 'Not checked.' },
  } as const,
});

const SeverityInput = builder.inputType('DocsConfigSeverityInput', {
  description: 'The severity of the diagnostics of one rule.',
  fields: (t) => ({
    code: t.string({ required: true, description: 'The rule, such as `nested-group`.' }),
    level: t.field({ type: LevelType, required: true, description: 'The severity of its diagnostics, or off.' }),
  }),
});

const DocsConfigInput = builder.inputType('DocsConfigInput', {
  description: 'A configuration file of at most 256 KiB: its text, or its value.',
  isOneOf: true,
  fields: (t) => ({
    source: t.string({ description: 'The text of the file. Positions of diagnostics refer to it.' }),
    value: t.field({
      type: 'JSON',
      description: 'The parsed file. Positions of diagnostics refer to its text with an indentation of 2.',
    }),
  }),
});

const OptionsInput = builder.inputType('DocsConfigOptions', {
  description: 'How strictly to check.',
  fields: (t) => ({
    strict: t.boolean({ defaultValue: false, description: 'Makes every warning an error.' }),
    allowNestedGroups: t.boolean({ defaultValue: false, description: 'Accepts groups inside the pages of a group.' }),
    severities: t.field({ type: [SeverityInput], description: 'The severities of individual rules.' }),
    files: t.stringList({
      description:
        'Paths of the site’s files, relative to the folder of the configuration file. If omitted, references are not checked.',
    }),
  }),
});

/** The text of a document. @throws InvalidInput when it is too long, or has a number that was not read exactly. */
function textOf({ source, value }: typeof DocsConfigInput.$inferInput): string {
  const path = ['input', source == null ? 'value' : 'source'];
  const text =
    source ??
    JSON.stringify(value, (_, item) => {
      if (typeof item !== 'number' || Number.isFinite(item)) return item;
      throw new InvalidInput([
        { path, message: 'has a number that cannot be represented exactly; send the document as source.' },
      ]);
    });
  if (Buffer.byteLength(text) > maxDocumentBytes)
    throw new InvalidInput([{ path, message: 'must have at most 256 KiB; check it with the command docs-config.' }]);
  if (source != null) return text;
  const indented = JSON.stringify(value, null, 2);
  return indented.length > 4 * maxDocumentBytes ? text : indented; // deep values are mostly indentation
}

function readOptions(given: typeof OptionsInput.$inferInput | null | undefined) {
  const { strict, allowNestedGroups, severities, files } = given ?? {};
  const unknown = severities?.find(({ code }) => !isCode(code));
  if (unknown) {
    const message = `contains the unknown rule ${JSON.stringify(unknown.code)}; expected one of ${codes.join(', ')}.`;
    throw new InvalidInput([{ path: ['options', 'severities'], message }]);
  }
  const fixed = severities?.find(({ code }) => fixedCodes.includes(code));
  if (fixed) throw new InvalidInput([{ path: ['options', 'severities'], message: `${fixed.code} is always an error.` }]);
  const levels: Record<string, Level> = Object.fromEntries(severities?.map(({ code, level }) => [code, level]) ?? []);
  return { strict: strict ?? false, allowNestedGroups: allowNestedGroups ?? false, severities: levels, ...(files && { files }) };
}

builder.queryFields((t) => ({
  validateDocsConfig: t.field({
    type: ReportType,
    nullable: true,
    description: 'Checks the configuration file of a documentation site. Requires an API token of any scope.',
    args: {
      input: t.arg({ type: DocsConfigInput, required: true, description: 'The file.' }),
      options: t.arg({ type: OptionsInput, description: 'How strictly to check.' }),
    },
    extensions: { cost: () => 3_000 } satisfies FieldCost, // ten long documents keep the processor busy for a fifth of a second
    resolve: (_, { input, options }) => validate(textOf(input), readOptions(options)),
  }),
}));
