import type { InputCheck } from '../../domain/user-group-input.ts';

/** The member of a field's extensions that holds the check of its input. */
export const inputCheckExtension = 'checkInput';

/** The extensions of a root field whose argument `input` can be checked before GraphQL coerces it. */
export function checkInput<Input>(check: InputCheck<Input>): Record<string, unknown> {
  return { [inputCheckExtension]: check };
}
