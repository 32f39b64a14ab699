import { textAttributes } from '../graphql/generated.ts';

/** An attribute of groups that is a line of text. */
export type TextAttribute = (typeof textAttributes)[number];

/** Those besides the name, which lists and pages show in places of its own. */
export const furtherTexts: readonly TextAttribute[] = textAttributes.filter(({ name }) => name !== 'name');

/** What a heading calls it: the display name is the name of a group. */
export const titleOf = ({ name, label }: TextAttribute): string => (name === 'name' ? 'Name' : label);

/** What a sentence calls it: `region`. An abbreviation at the beginning stays as it is. */
export const nounOf = (attribute: TextAttribute): string =>
  titleOf(attribute).replace(/^\p{Lu}(?!\p{Lu})/u, (letter) => letter.toLowerCase());
