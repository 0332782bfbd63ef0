/** WAV files of 16-bit PCM: a header of 44 bytes, then samples, channel beside channel. */
import { NonRetryableError } from "millrace";

export interface Sound {
  /** Samples a second. */
  readonly rate: number;
  /** Of equal length, samples from -1 to 1. */
  readonly channels: readonly Float32Array[];
}

const HEADER_BYTES = 44;
const PCM = 1;
const LOUDEST = 32_767;

/** A file that is not what it claims to be will not be so next time either: that is fatal. */
export function decodeWav(bytes: Uint8Array): Sound {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const format = chunkOf(view, "fmt ");
  const body = chunkOf(view, "data");
  if (format === null || body === null || !isPcm16(format)) {
    throw new NonRetryableError("this is no WAV file of 16-bit PCM");
  }
  const count = format.getUint16(2, true);
  const length = Math.floor(body.byteLength / 2 / count);
  const channels = Array.from({ length: count }, (_, channel) =>
    Float32Array.from({ length }, (__, at) => {
      return body.getInt16((at * count + channel) * 2, true) / LOUDEST;
    }),
  );
  return { rate: format.getUint32(4, true), channels };
}

export function encodeWav({ rate, channels }: Sound): Uint8Array<ArrayBuffer> {
  const length = channels[0]?.length ?? 0;
  const dataBytes = length * channels.length * 2;
  const view = new DataView(new ArrayBuffer(HEADER_BYTES + dataBytes));
  writeHeader(view, { rate, channels: channels.length, dataBytes });
  let place = HEADER_BYTES;
  for (let at = 0; at < length; at += 1) {
    for (const channel of channels) {
      const sample = Math.max(-1, Math.min(1, channel[at] ?? 0));
      view.setInt16(place, Math.round(sample * LOUDEST), true);
      place += 2;
    }
  }
  return new Uint8Array(view.buffer);
}

function isPcm16(format: DataView): boolean {
  if (format.byteLength < 16 || format.getUint16(0, true) !== PCM) return false;
  return format.getUint16(2, true) > 0 && format.getUint16(14, true) === 16;
}

function writeHeader(
  view: DataView,
  { rate, channels, dataBytes }: { rate: number; channels: number; dataBytes: number },
): void {
  const frameBytes = channels * 2;
  writeName(view, 0, "RIFF");
  view.setUint32(4, HEADER_BYTES - 8 + dataBytes, true);
  writeName(view, 8, "WAVE");
  writeName(view, 12, "fmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, PCM, true);
  view.setUint16(22, channels, true);
  view.setUint32(24, rate, true);
  view.setUint32(28, rate * frameBytes, true);
  view.setUint16(32, frameBytes, true);
  view.setUint16(34, 16, true);
  writeName(view, 36, "data");
  view.setUint32(40, dataBytes, true);
}

/** The content of a chunk, or null when the file has none of this name or ends within it. */
function chunkOf(view: DataView, name: string): DataView | null {
  if (view.byteLength < 12 || nameAt(view, 0) !== "RIFF" || nameAt(view, 8) !== "WAVE") return null;
  let place = 12;
  while (place + 8 <= view.byteLength) {
    const bytes = view.getUint32(place + 4, true);
    const start = place + 8;
    if (start + bytes > view.byteLength) return null;
    if (nameAt(view, place) === name) {
      return new DataView(view.buffer, view.byteOffset + start, bytes);
    }
    // Chunks begin at even places.
    place = start + bytes + (bytes % 2);
  }
  return null;
}

function nameAt(view: DataView, place: number): string {
  return String.fromCharCode(...[0, 1, 2, 3].map((at) => view.getUint8(place + at)));
}

function writeName(view: DataView, place: number, name: string): void {
  for (let at = 0; at < 4; at += 1) view.setUint8(place + at, name.charCodeAt(at));
}
