import { userGroupLimits } from '../../domain/limits.ts';
import { builder } from './builder.ts';

const { maxTextLength, maxMappingEntries, maxPropertiesBytes, maxPropertiesDepth } = userGroupLimits;

/** The limit of a mapping, in a description. */
export const mappingLimit = `at most ${maxMappingEntries.toLocaleString('en-US')} entries`;

/** The limits of properties, in a description. */
export const propertiesLimit = `at most ${maxPropertiesBytes / 1_024} KiB and ${maxPropertiesDepth} levels`;

/** One entry of a mapping in an input. */
export const DataSourceMappingInput = builder.inputType('DataSourceMappingInput', {
  description: 'Maps a schema to its data source.',
  fields: (t) => ({
    schemaId: t.string({
      required: true,
      description: `The ID of the schema: at most ${maxTextLength} characters, unique within the mapping.`,
    }),
    dataSource: t.string({
      required: true,
      description: `The data source: its ID, or the identifier that you gave it, at most ${maxTextLength} characters.`,
    }),
  }),
});
