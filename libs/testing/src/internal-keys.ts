import { createHash } from 'node:crypto';
import { SERVICE_NAMES } from '@rookery/contracts';
import type { ProcessName } from '@rookery/platform';

const PROCESSES: readonly ProcessName[] = ['gateway', ...SERVICE_NAMES];

/** `ROOKERY_INTERNAL_KEYS` of a process under test: all keys that it may present and check, used or not. */
export function testInternalKeys(process: ProcessName): string {
  const others = PROCESSES.filter((name) => name !== process);
  const pairs = others.flatMap((other) => [[other, process] as const, [process, other] as const]);
  return pairs.map(([caller, callee]) => `test/${caller}/${callee}:${internalKeyOf(caller, callee)}`).join(',');
}

/** The `Authorization` header of a call between two processes under test. */
export function internalAuthorization(caller: ProcessName, callee: ProcessName): string {
  return `Bearer ${internalKeyOf(caller, callee)}`;
}

function internalKeyOf(caller: ProcessName, callee: ProcessName): string {
  return createHash('sha256').update(`${caller}/${callee}`).digest('base64');
}
