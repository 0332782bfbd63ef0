/** About a hundred bytes, as most queues carry. */
export const PAYLOAD: string = JSON.stringify({ to: "ada@example.org", text: "x".repeat(70) });
