import { describe, expect, test } from "vitest";
import { downmix, normalisePeak, resample } from "../src/audio.ts";
import { decodeWav, encodeWav } from "../src/wav.ts";

describe("a sound", () => {
  test("survives being written as WAV and read again", () => {
    const channels = [Float32Array.of(0, 0.5, -1), Float32Array.of(1, -0.25, 0)];

    const { rate, channels: read } = decodeWav(encodeWav({ rate: 8_000, channels }));

    expect(rate).toBe(8_000);
    for (const [index, channel] of channels.entries()) {
      expect(read[index]).toHaveLength(channel.length);
      for (const [at, sample] of channel.entries())
        expect(read[index]?.[at]).toBeCloseTo(sample, 4);
    }
  });

  test("is mixed down to the mean of its channels", () => {
    expect(downmix([Float32Array.of(1, 0.5), Float32Array.of(0, -0.5)])).toEqual(
      Float32Array.of(0.5, 0),
    );
  });

  test("is resampled to fewer samples by their means, to more along the line between", () => {
    const samples = Float32Array.of(0, 1, 0.5, 0.5);

    expect(resample(samples, { from: 4, to: 2 })).toEqual(Float32Array.of(0.5, 0.5));
    expect(resample(Float32Array.of(0, 1), { from: 2, to: 4 })).toEqual(
      Float32Array.of(0, 0.5, 1, 1),
    );
  });

  test("is made as loud as it gets, unless it is silence", () => {
    expect(normalisePeak(Float32Array.of(0.25, -0.5), 1)).toEqual(Float32Array.of(0.5, -1));
    expect(normalisePeak(Float32Array.of(0, 0), 1)).toEqual(Float32Array.of(0, 0));
  });

  const whole = encodeWav({ rate: 8_000, channels: [Float32Array.of(0.1, 0.2)] });
  test.each([
    ["text", new TextEncoder().encode("<html>not a WAV file, but long enough to be one</html>")],
    ["nothing", new Uint8Array()],
    ["a file that was cut off", whole.subarray(0, whole.length - 1)],
    ["8-bit samples", whole.with(34, 8)],
    ["no channel", whole.with(22, 0)],
  ])("is refused for good when the file is %s", (_, bytes) => {
    expect(() => decodeWav(bytes)).toThrow("this is no WAV file of 16-bit PCM");
  });
});
