import {
  type ASTVisitor,
  GraphQLError,
  getNamedType,
  isScalarType,
  Kind,
  type OperationDefinitionNode,
  print,
  type TypeNode,
  type ValidationContext,
  type VariableNode,
  visit,
} from 'graphql';

/** The types whose values are JSON that GraphQL leaves as it was sent, or as the type says: not times and enum values. */
const jsonTypes: ReadonlySet<string> = new Set(['JSON', 'String', 'Int', 'Float', 'Boolean', 'ID']);

/**
 * The validation rule for variables within JSON literals, whose positions have no type that others could be compared with: they
 * must be JSON themselves. What GraphQL makes of other types, such as of a DateTime, is not what was sent.
 */
export function JsonVariablesRule(context: ValidationContext): ASTVisitor {
  const inLiterals = new Set<VariableNode>();
  const checkVariables = (operation: OperationDefinitionNode): void => {
    const { variableDefinitions = [] } = operation;
    const types = new Map(variableDefinitions.map(({ variable, type }) => [variable.name.value, type]));
    for (const { node } of context.getRecursiveVariableUsages(operation)) {
      const name = node.name.value;
      const type = inLiterals.has(node) ? types.get(name) : undefined;
      if (type === undefined || jsonTypes.has(nameOf(type))) continue;
      const message =
        `Variable "$${name}" of type "${print(type)}" cannot be a part of a JSON value. Send the whole value as one variable ` +
        'of type JSON.';
      context.reportError(new GraphQLError(message, { nodes: node }));
    }
  };
  return {
    // The only literals of scalars that are objects. In a list of JSON, variables have a type, which another rule compares.
    ObjectValue(literal) {
      if (!isScalarType(getNamedType(context.getInputType()))) return;
      visit(literal, { Variable: (node) => void inLiterals.add(node) });
    },
    Document: {
      leave({ definitions }) {
        for (const definition of definitions) if (definition.kind === Kind.OPERATION_DEFINITION) checkVariables(definition);
      },
    },
  };
}

const nameOf = (type: TypeNode): string => (type.kind === Kind.NAMED_TYPE ? type.name.value : nameOf(type.type));
