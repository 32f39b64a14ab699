import { TextField } from '../ui/field.tsx';

interface RateLimitFieldProps {
  readonly error: string | undefined;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** How many requests may be sent with an API token in 60 seconds; empty for the setting of the gateway. */
export function RateLimitField({ error, value, onChange }: RateLimitFieldProps) {
  return (
    <TextField
      label="Requests in 60 seconds"
      hint="The most that it may send, to all instances together. Leave it empty for the setting of the gateway."
      type="number"
      min={1}
      max={1_000_000}
      error={error}
      value={value}
      onChange={onChange}
    />
  );
}

/** The rate limit as the API has it. */
export const rateLimitOf = (text: string): number | null => (text.trim() === '' ? null : Number(text));
