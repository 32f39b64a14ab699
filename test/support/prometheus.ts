/** A line of the text format of Prometheus. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Reads the text format strictly. @throws Error for a line that is none of it. */
export function readSamples(text: string): Sample[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !/^# (?:HELP|TYPE) [a-z_0-9]+ /.test(line))
    .map((line) => {
      const [, name = '', labels = '', value] = /^([a-z_0-9]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      if (value === undefined || (value !== 'Nan' && Number.isNaN(Number(value.replace('+Inf', 'Infinity')))))
        throw new Error(`Not a sample: ${line}`);
      const pairs = [...labels.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"(?:,|$)/g)];
      if (pairs.map(([pair]) => pair).join('') !== labels) throw new Error(`Not the labels of a sample: ${line}`);
      return { name, labels: Object.fromEntries(pairs.map(([, label = '', text = '']) => [label, text])), value: Number(value) };
    });
}

/** The value of the sample with this name and these labels; 0 if there is none. @throws Error when there are several. */
export function sampleValue(samples: readonly Sample[], name: string, labels: Readonly<Record<string, string>> = {}): number {
  const found = samples.filter(
    (sample) => sample.name === name && Object.entries(labels).every(([label, text]) => sample.labels[label] === text),
  );
  if (found.length > 1) throw new Error(`Several samples of ${name} have the labels ${JSON.stringify(labels)}.`);
  return found[0]?.value ?? 0;
}
