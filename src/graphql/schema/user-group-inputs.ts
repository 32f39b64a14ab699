import { builder } from './builder.ts';

/** One entry of a mapping in an input. */
export const DataSourceMappingInput = builder.inputType('DataSourceMappingInput', {
  description: 'Maps a schema to its data source.',
  fields: (t) => ({
    schemaId: t.string({
      required: true,
      description: 'The ID of the schema: at most 255 characters, unique within the mapping.',
    }),
    dataSource: t.string({
      required: true,
      description: 'The data source: its ID, or the identifier that you gave it, at most 255 characters.',
    }),
  }),
});
