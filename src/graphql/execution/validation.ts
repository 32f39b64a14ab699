import {
  type DocumentNode,
  type GraphQLSchema,
  NoSchemaIntrospectionCustomRule,
  specifiedRules,
  type ValidationRule,
  validate,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { longDocumentLength } from '../limits.ts';
import { documentBounds, parseDocument } from './documents.ts';
import { shapeOf } from './shape.ts';
import { JsonVariablesRule } from './variables.ts';

/** The rules for documents. @param introspection whether they may read the schema. */
export const validationRules = (introspection: boolean): readonly ValidationRule[] => [
  ...specifiedRules,
  JsonVariablesRule,
  ...(introspection ? [] : [NoSchemaIntrospectionCustomRule]),
];

/** Parses and validates a short text within the limits; nothing if it is long, or not valid. */
export type ReadDocument = (text: string) => DocumentNode | undefined;

/**
 * Creates a reader of documents. It keeps the shapes of valid ones, in a bounded cache, because validation takes thirty times as
 * long as parsing: clients that write values into their documents send one that is new with each request.
 */
export function createDocumentReader(schema: GraphQLSchema, rules: readonly ValidationRule[]): ReadDocument {
  const valid = new LRUCache<string, true>({ ...documentBounds, sizeCalculation: (_, shape) => shape.length });
  return (text) => {
    if (text.length > longDocumentLength) return undefined;
    try {
      const document = parseDocument(text);
      const shape = shapeOf(schema, document);
      if (shape !== undefined && valid.get(shape)) return document;
      if (validate(schema, document, rules, { maxErrors: 1 }).length > 0) return undefined;
      if (shape !== undefined) valid.set(shape, true);
      return document;
    } catch {
      return undefined;
    }
  };
}
