import { TextField } from '../ui/field.tsx';

interface RateLimitFieldProps {
  readonly error: string | undefined;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/**
 * How many requests may be sent with an API token in 60 seconds; empty for the setting of the gateway. A line of text: a field
 * for numbers would read 1.000, which is a thousand in some languages, as 1.
 */
export function RateLimitField({ error, value, onChange }: RateLimitFieldProps) {
  return (
    <TextField
      label="Requests in 60 seconds"
      hint="The most that it may send, to all instances together. Leave it empty for the setting of the gateway."
      inputMode="numeric"
      pattern="[0-9]{0,7}"
      title="Digits alone, at most 1000000"
      error={error}
      value={value}
      onChange={onChange}
    />
  );
}

/** The rate limit as the API has it. */
export const rateLimitOf = (text: string): number | null => (text === '' ? null : Number(text));
