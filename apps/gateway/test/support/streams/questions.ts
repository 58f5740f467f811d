/** Resident memory of a process and its open sockets. Units: bytes. */
export interface ProcessFacts {
  readonly memory: number;
  /** The peak of memory since the last `reset`. */
  readonly peak: number;
  readonly sockets: number;
}

const SAMPLE_MS = 10;

/**
 * Answers questions of the test that started this process, over IPC. Every process has `facts` and `reset`. Memory is
 * sampled every 10 ms inside the process, since the peak that the system reports includes the time before the test.
 */
export function answerQuestions(own: Readonly<Record<string, () => unknown>>): void {
  let peak = 0;
  const sample = (): number => {
    const { rss } = process.memoryUsage();
    peak = Math.max(peak, rss);
    return rss;
  };
  setInterval(sample, SAMPLE_MS).unref();
  const known: Readonly<Record<string, () => unknown>> = {
    facts: (): ProcessFacts => ({ memory: sample(), peak, sockets: openSockets() }),
    reset: () => void (peak = 0),
    ...own,
  };
  process.on('message', ({ ask, id }: { ask?: string; id?: number }) => {
    if (ask !== undefined) process.send?.({ id, answer: known[ask]!() ?? null });
  });
}

function openSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
}
