/** What the phase `process` does to samples, which lie between -1 and 1. */

/** One channel that is the mean of all. */
export function downmix(channels: readonly Float32Array[]): Float32Array {
  const [first] = channels;
  if (first === undefined || channels.length === 1) return first ?? new Float32Array();
  return first.map((_, at) => {
    const sum = channels.reduce((total, channel) => total + (channel[at] ?? 0), 0);
    return sum / channels.length;
  });
}

/**
 * Another number of samples a second: to a lower rate each is the mean of those it stands for,
 * which keeps most of what the new rate cannot carry from coming back as another tone; to a higher
 * rate each lies on the line between its neighbours.
 */
export function resample(
  samples: Float32Array,
  rate: { readonly from: number; readonly to: number },
): Float32Array {
  const step = rate.from / rate.to;
  const length = Math.floor(samples.length / step);
  return Float32Array.from({ length }, (_, at) =>
    step > 1 ? meanOf(samples, at * step, (at + 1) * step) : between(samples, at * step),
  );
}

/** The loudest sample comes to just under the limit. Silence stays silent. */
export function normalisePeak(samples: Float32Array, peak = 0.89): Float32Array {
  const loudest = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  if (loudest === 0) return samples;
  return samples.map((sample) => (sample * peak) / loudest);
}

function meanOf(samples: Float32Array, from: number, to: number): number {
  const first = Math.floor(from);
  const end = Math.max(first + 1, Math.floor(to));
  let sum = 0;
  for (let at = first; at < end; at += 1) sum += samples[at] ?? 0;
  return sum / (end - first);
}

function between(samples: Float32Array, place: number): number {
  const at = Math.floor(place);
  const left = samples[at] ?? 0;
  const right = samples[at + 1] ?? left;
  return left + (right - left) * (place - at);
}
