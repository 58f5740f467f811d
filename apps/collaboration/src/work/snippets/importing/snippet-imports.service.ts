import { Injectable } from '@nestjs/common';
import type { ImportSnippetRequest, LeftOutSnippetsRequest } from '@rookery/contracts';
import { Invalid } from '@rookery/kernel';
import { statement, Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { toUserAgentColumns } from '../../../base/noteables/user-agent-detail';
import { AccountMailEnqueuer } from '../../../following/notifications/account-mails/account-mail-enqueuer';
import { applySnippetFileActions } from '../snippet-files';
import { storeSnippetFiles } from '../snippet-file-rows';
import { Snippet } from '../snippet.entity';

/** Keeps the author and their rights until the transaction ends: external users have no personal snippets. */
const LOCK_AUTHOR = statement<{ author: number }, { id: number }>(
  'snippets_lock_importing_author',
  `select id from directory_users
   where id = :author::bigint and state = 'active' and (admin or not external) for share`,
);
interface SnippetOriginKey {
  readonly author: number;
  readonly source: string;
  readonly upstream: string;
}
/** Lets two runs of one import write the same snippet one after the other. */
const LOCK = statement<SnippetOriginKey, never>(
  'imported_snippets_lock',
  `select pg_advisory_xact_lock(hashtextextended('imported snippet ' || :author::bigint || ' ' || :source || ' ' || :upstream, 0))`,
);
const FIND = statement<SnippetOriginKey, { snippet_id: number }>(
  'imported_snippets_find',
  `select snippet_id from imported_snippets
   where author_id = :author::bigint and source = :source and upstream_id = :upstream`,
);
const ADD = statement<SnippetOriginKey & { snippet: number }, never>(
  'imported_snippets_add',
  `insert into imported_snippets (author_id, source, upstream_id, snippet_id)
   values (:author::bigint, :source, :upstream, :snippet::bigint)`,
);
/** Units: characters. */
const MAX_TITLE = 255;
const GONE = 'The user may not have snippets any more.';

/** Writes snippets of imports. Publishes no event. Source: reference identity-and-import 6.9. */
@Injectable()
export class SnippetImportsService {
  constructor(
    private readonly work: Work,
    private readonly mails: AccountMailEnqueuer,
  ) {}

  /** Writes a snippet unless its author has it from the same upstream one. Returns the reason why it cannot exist, or null. */
  async writeSnippet(request: ImportSnippetRequest): Promise<string | null> {
    try {
      return await this.work.run((tx) => importSnippetOnce(tx, request));
    } catch (error) {
      if (error instanceof Invalid) return renderFieldProblemsAsSentence(error);
      throw error;
    }
  }

  /** Queues the e-mail about snippets that were left out, once for each import. */
  async notifyOfLeftOut({ import_key: eventId, user_id, import_id, snippets }: LeftOutSnippetsRequest): Promise<void> {
    const notice = { eventId, template: 'gists_left_out', recipientId: user_id, subjectId: import_id } as const;
    await this.work.run((tx) => this.mails.queueMails(tx, [{ ...notice, leftOut: snippets }]));
  }
}

async function importSnippetOnce(tx: Tx, request: ImportSnippetRequest): Promise<string | null> {
  const { user_id: author, source, upstream_id: upstream, visibility } = request;
  const [user] = await tx.run(LOCK_AUTHOR, { author });
  if (!user) return GONE;
  await tx.run(LOCK, { author, source, upstream });
  if ((await tx.run(FIND, { author, source, upstream })).length > 0) return null;
  const files = applySnippetFileActions(
    [],
    request.files.map(({ path, content }) => ({ action: 'create', file_path: path, content })),
  );
  const title = [...request.title.trim()].slice(0, MAX_TITLE).join('');
  const snippet = Snippet.create(
    { projectId: null, authorId: author, ...toUserAgentColumns({}) },
    { title, visibility },
  );
  const times = { createdAt: new Date(request.created_at), updatedAt: new Date(request.updated_at) };
  const { id } = await tx.manager.save(tx.manager.create(Snippet, { ...snippet, ...times }));
  await storeSnippetFiles(tx, id, [], files);
  await tx.run(ADD, { author, source, upstream, snippet: id });
  return null;
}

function renderFieldProblemsAsSentence({ fields }: Invalid): string {
  const texts = Object.entries(fields).flatMap(([field, list]) => list.map((text) => `${field} ${text}`));
  return `${texts.join(', ')}.`.replace(/^./, (letter) => letter.toUpperCase());
}
