import type { ReactNode } from 'react';
import type { EnvironmentTag, UserGroupStatus } from '../graphql/generated.ts';
import { SelectField } from './field.tsx';

/** The environments as people choose them, in the order of their weight. */
export const environments = [
  { value: 'CUSTOMER', label: 'Customer' },
  { value: 'TESTING', label: 'Testing' },
  { value: 'UNTAGGED', label: 'Untagged' },
] as const;

/** An environment in URLs and forms, where null cannot be. */
export type EnvironmentChoice = (typeof environments)[number]['value'];

/** What a choice is in the API. */
export const tagOf = (choice: EnvironmentChoice): EnvironmentTag | null => (choice === 'UNTAGGED' ? null : choice);

/** What an environment of the API is in forms. */
export const choiceOf = (tag: EnvironmentTag | null): EnvironmentChoice => tag ?? 'UNTAGGED';

/** Whether a text is a choice, such as one from a URL. */
export const isEnvironmentChoice = (text: string): text is EnvironmentChoice => environments.some(({ value }) => value === text);

/** The name of an environment. */
export const environmentLabel = (tag: EnvironmentTag | null): string =>
  environments.find(({ value }) => value === choiceOf(tag))?.label ?? '';

/** The environment, in its color. */
export function EnvironmentBadge({ tag }: { readonly tag: EnvironmentTag | null }) {
  return <span className={`badge environment-${choiceOf(tag).toLowerCase()}`}>{environmentLabel(tag)}</span>;
}

/** The environments of an API token with the scope admin. Customer is one of them, so it has its color. */
export function AllEnvironmentsBadge() {
  return <span className="badge environment-customer">All environments</span>;
}

/** Says that a group is suspended; nothing for one that is active. */
export function StatusBadge({ status }: { readonly status: UserGroupStatus }) {
  return status === 'SUSPENDED' ? <Badge tone="bad">suspended</Badge> : null;
}

/** The environment, for a form that has no default: what is created in the wrong one cannot be used. */
export function EnvironmentField({ value, onChange, hint }: EnvironmentFieldProps) {
  return (
    <SelectField
      label="Environment"
      required
      hint={hint}
      value={value}
      options={[{ value: '', label: 'Choose an environment' }, ...environments]}
      onChange={onChange}
    />
  );
}

interface EnvironmentFieldProps {
  readonly value: EnvironmentChoice | '';
  readonly onChange: (value: EnvironmentChoice | '') => void;
  readonly hint?: string;
}

/** A short word about the thing beside it. */
export function Badge({
  children,
  tone = 'neutral',
}: {
  readonly children: ReactNode;
  readonly tone?: 'neutral' | 'good' | 'warn' | 'bad';
}) {
  return <span className={`badge ${tone}`}>{children}</span>;
}
