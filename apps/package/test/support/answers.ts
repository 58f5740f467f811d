import type { EventEmitter } from 'node:events';
import type { ClientRequest } from 'node:http';
import type { Test } from 'supertest';
import type { PackageService } from '../support/app';

/** Waits until the uploads of files with a name are known to be answered. */
export async function areAnswered({ database }: PackageService, fileName: string): Promise<void> {
  const isOpen = async (): Promise<boolean> => {
    const open = await database.query(
      `select 1 from package_files where file_name = '${fileName}' and unanswered_token_id is not null`,
    );
    return open.length > 0;
  };
  for (let turn = 0; turn < 10_000 && (await isOpen()); turn++) await new Promise(setImmediate);
  if (await isOpen()) throw new Error(`the answer to the upload of ${fileName} was not recorded`);
}

/** Lets the uploads of files with a name count as uploads with this token whose answers were lost. */
export async function loseAnswers({ database }: PackageService, fileName: string, tokenId: number): Promise<void> {
  await database.query(`update package_files set unanswered_token_id = ${tokenId} where file_name = '${fileName}'`);
}

/** The signed request of a test, for bodies that are written piece by piece. */
export function openRequest(test: Test): ClientRequest {
  const { request } = test as unknown as { request(): ClientRequest };
  const sent = request.call(test);
  // Signs it as other requests are.
  (test as unknown as EventEmitter).emit('request', { req: sent });
  return sent;
}
