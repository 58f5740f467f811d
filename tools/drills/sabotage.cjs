/**
 * Loaded into a service by NODE_OPTIONS=--require: disables a safeguard, or injects a fault, by changing the text of one or
 * several built files when they are loaded. The product contains none of this. DRILL_SABOTAGE contains names from CHANGES,
 * joined by commas. A change that does not match its file ends the process, so that no drill passes without its fault.
 *
 * @typedef {{ only?: RegExp, file: RegExp, from: RegExp, to: string }} Change
 */
/** Node's loader, with its internal methods. @type {any} */
const Module = require('node:module');

/** @type {Record<string, Change | Change[]>} */
const CHANGES = {
  /** Pushes of dead processes are never settled. */
  'unsettled-pushes': {
    only: /apps[\\/]collaboration/,
    file: /repositories[\\/]repositories\.job\.js$/,
    from: /await this\.database\.run\(selectAbandonedPushes, \{\}\)/,
    to: '[]',
  },
  /** A repeated merge does not notice that the branch has moved already. */
  'merges-again': {
    only: /apps[\\/]collaboration/,
    file: /merging[\\/]earlier-attempts\.js$/,
    from: /if \(!await containsMergeAttemptResult\([^)]*\)\) continue;/,
    to: 'continue;',
  },
  /** Headers with credentials of killed processes stay on disk. */
  'left-headers': {
    file: /transport[\\/]authorization\.js$/,
    from: /await removeAbandonedHeaderFiles\(\);/,
    to: '',
  },
  /** git gets headers with credentials by its arguments or its environment. */
  'shown-headers': {
    file: /transport[\\/]authorization\.js$/,
    from: /'include\.path',\s*path\b/,
    to: "'http.extraHeader', `Authorization: ${authorization}`",
  },
  /** A failed commit counts as rolled back. */
  'no-doubt': {
    file: /persistence[\\/]dist[\\/]work[\\/]work\.js$/,
    from: /wasRolledBack\)\(error\) \?/,
    to: 'wasRolledBack)(error) || true ?',
  },
  /** Requests on a silent connection wait for the TCP timeout. */
  'endless-silence': {
    file: /persistence[\\/]dist[\\/]connections[\\/]steady-client\.js$/,
    from: /(?<!this\.)socket\.setTimeout\(this\.silenceMs\);/,
    to: '',
  },
  /** A lead ends only with the leader's connection, not with its lease. */
  'endless-leadership': { file: /messaging[\\/]dist[\\/]relay[\\/]outbox-reader\.js$/, from: /\$\{LEASE\}/, to: '' },
  /** Identity does not notice that its database was restored. */
  'one-history': [
    {
      only: /apps[\\/]identity/,
      file: /history[\\/]histories\.service\.js$/,
      from: /const isOther = [^;]*;/,
      to: 'const isOther = false;',
    },
    {
      only: /apps[\\/]identity/,
      file: /directory[\\/]change-log\.js$/,
      from: /where history in \('', [^)]*\)\s/,
      to: '',
    },
    {
      only: /apps[\\/]identity/,
      file: /directory[\\/]change-feed\.js$/,
      from: /if \(!row\.is_known\)/,
      to: 'if (false)',
    },
  ],
  /** After a restore, identity assigns ids again that were assigned before. */
  'ids-again': {
    only: /apps[\\/]identity/,
    file: /history[\\/]histories\.queries\.js$/,
    from: /where seen\.id > coalesce/,
    to: 'where false and seen.id > coalesce',
  },
  /** The Message-ID of an e-mail depends on the id of its comment only. */
  'ids-as-message-ids': {
    only: /apps[\\/]collaboration/,
    file: /mailer[\\/]mail-identity\.js$/,
    from: /\.\$\{computeHmacWithMailSecret\(event_id, identity\)\.slice\(0, 20\)\}/,
    to: '',
  },
  /** A service whose database was restored does not read earlier events again. */
  'heard-once': {
    only: /apps[\\/]collaboration/,
    file: /messaging[\\/]dist[\\/]relay[\\/]database-restore-recovery\.js$/,
    from: /await this\.restartConsumersFrom\([^;]*;/,
    to: '',
  },
  /** The product takes an aborted SMTP session for an unavailable mail server. */
  'contagious-drops': {
    only: /apps[\\/]collaboration/,
    file: /mailer[\\/]smtp-client\.js$/,
    from: /await this\.isServerReachable\(\)/,
    to: 'false',
  },
  /** A stopping replica closes keep-alive connections without announcing it. */
  'silent-end': [
    {
      file: /platform[\\/]dist[\\/]boot[\\/]stop\.js$/,
      from: /await Promise\.all\(contexts\.map\(\(\{ shutdown \}\)=>shutdown\.runAnnouncement\(\)\)\);/,
      to: '',
    },
    {
      file: /platform[\\/]dist[\\/]boot[\\/]drain-http\.js$/,
      from: /KEPT_IDLE_MS = 3000/,
      to: 'KEPT_IDLE_MS = 600_000',
    },
  ],
  /** Every delivery counts as new: without the inbox, each effect happens as often as its event is delivered. */
  'no-inbox': {
    file: /persistence[\\/]dist[\\/]work[\\/]inbox\.js$/,
    from: /return new Set\(rows\.map\([^)]*\)[^;]*;/,
    to: 'return new Set(ids);',
  },
  /** The relay sometimes dies between the bus's acknowledgement and its own mark, while DRILL_FAULT_FILE exists. */
  'kill-before-mark': {
    only: /apps[\\/](collaboration|package)/,
    file: /messaging[\\/]dist[\\/]relay[\\/]relay\.js$/,
    from: /await faults\.reachPoint\(.relay\.before-mark.\);/,
    to: "if (Math.random() < 0.03 && require('node:fs').existsSync(process.env.DRILL_FAULT_FILE)) process.kill(process.pid, 'SIGKILL');",
  },
  /** Messages have no id, so the bus cannot detect duplicates. */
  'no-message-id': {
    file: /messaging[\\/]dist[\\/]relay[\\/]publisher\.js$/,
    from: /msgID,/,
    to: '',
  },
  /** Events count as published while the bus is unavailable, as without an outbox. */
  'no-waiting': {
    file: /messaging[\\/]dist[\\/]relay[\\/]relay\.js$/,
    from: /const connection = await broker\.waitForConnection\(this\.stopping\.signal\);/,
    to: `if (!broker.isConnected) {
      const away = await this.reader.markAndRead(this.published, settings.outboxBatchCount);
      this.published = away.map((row) => row.id);
      return away.length > 0;
    }
    const connection = await broker.connected(this.stopping.signal);`,
  },
  /** One event in ten is lost before it reaches the outbox, as if it were published outside of the transaction. */
  'lossy-outbox': {
    file: /persistence[\\/]dist[\\/]work[\\/]work\.js$/,
    from: /if \(rows\.length > 0\)/,
    to: 'if (rows.length > 0 && Math.random() > 0.1)',
  },
  /** The number of concurrent searches and heavy pages is unlimited. */
  'no-places': {
    file: /api-v4[\\/]dist[\\/]limits[\\/]fair-places\.js$/,
    from: /return this\.taken < this\.places\.count && running < this\.places\.ofOneCaller;/,
    to: 'return true;',
  },
  /** Long texts are searched as a whole, by comparing every character at every position. */
  'slow-match': {
    only: /apps[\\/]collaboration/,
    file: /persistence[\\/]dist[\\/]sql[\\/]conditions\.js$/,
    from: /`folded\.long_\$\{index\} ~ lower\(\$\{plain\}\)`/,
    to: "`folded.long_${index} like lower('%' || substr(${plain}, 5) || '%')`",
  },
  /** A copy of the directory is used even if it is outdated. */
  'no-version-check': {
    file: /directory[\\/]dist[\\/]copy[\\/]copy-progress\.js$/,
    from: /return position\.epoch === target\.epoch && position\.version >= target\.version;/,
    to: 'return true;',
  },
  /** A gateway keeps positive token checks although the token or its holder changed. */
  'deaf-gateway': {
    file: /gateway[\\/]dist[\\/]auth[\\/]directory-watch\.js$/,
    from: /this\.leases\.dropToken\(id\);\s*else if \(kind === 'user'\) this\.leases\.dropUser\(id\);/,
    to: "id; else if (kind === 'user') id;",
  },
  /** A gateway does not remember the directory versions of its own writes. */
  'no-floor': {
    file: /gateway[\\/]dist[\\/]auth[\\/]directory-floor\.js$/,
    from: /raise\(version\) \{/,
    to: 'raise(version) { return;',
  },
  /** An invited group keeps its access level after the invitation expires. */
  'endless-shares': {
    file: /directory[\\/]dist[\\/]sql[\\/]level-sql\.js$/,
    from: /and \$\{notExpiredSql\('s'\)\} and/,
    to: 'and',
  },
  /** Members of an invited group get their own level, not limited by that of the invitation. */
  'uncapped-shares': {
    file: /directory[\\/]dist[\\/]sql[\\/]level-sql\.js$/,
    from: /least\(s\.access_level, m\.access_level\)/,
    to: 'm.access_level',
  },
  /** The move of a group is not published. */
  'silent-moves': {
    only: /apps[\\/]identity/,
    file: /moving[\\/]group-moves\.service\.js$/,
    from: /await this\.log\.recordSubtree\(tx, groupId\);/,
    to: '',
  },
  /** The blocking and unblocking of users is not published. */
  'silent-states': {
    only: /apps[\\/]identity/,
    file: /states[\\/]user-states\.service\.js$/,
    from: /await this\.changes\.recordUsers\(tx, id\);/,
    to: '',
  },
  /** A revoked token that is presented for rotation is refused, but its family is not revoked. */
  'living-families': {
    only: /apps[\\/]identity/,
    file: /resolution[\\/]token-resolution\.js$/,
    from: /await this\.tokens\.revokeFamilyOf\(row\.token_id\);/,
    to: '',
  },
  /** The permissions of a bot do not depend on its creator and on the user who issued its tokens. */
  'free-bots': [
    {
      only: /apps[\\/]identity/,
      file: /users[\\/]bot-external-flag\.js$/,
      from: /async propagateExternal\(tx, userId, isExternal\) \{/,
      to: 'async propagateExternal() { return;',
    },
    {
      only: /apps[\\/]identity/,
      file: /resolution[\\/]token-resolution\.js$/,
      from: /u\.external or \(u\.kind in .* as external,/,
      to: 'u.external,',
    },
    {
      only: /apps[\\/]identity/,
      file: /resource[\\/]bot-users\.js$/,
      from: /external: maker\.isExternal,/,
      to: '',
    },
  ],
  /** A bot keeps the state that its responsible users had when its tokens were issued. */
  'steady-bots': [
    {
      only: /apps[\\/]identity/,
      file: /users[\\/]user-rows\.js$/,
      from: /await this\.limits\.propagateExternal\(tx, id, external\);/,
      to: '',
    },
    {
      only: /apps[\\/]identity/,
      file: /resolution[\\/]token-resolution\.js$/,
      from: /u\.external or \(u\.kind in .* as external,/,
      to: 'u.external,',
    },
  ],
  /** Impersonation tokens stay valid after their issuer loses the administrator role. */
  'endless-impersonation': {
    only: /apps[\\/]identity/,
    file: /resolution[\\/]token-resolution\.js$/,
    from: /if \(row\.is_given_out && !row\.may_give_out\)/,
    to: 'if (false)',
  },
  /** A gateway drops positive token checks of users who change, but not those of tokens that they issued. */
  'unheard-impersonators': {
    only: /apps[\\/]gateway/,
    file: /auth[\\/]token-leases\.js$/,
    from: /const giver = holder\.given_by_id \?\? holder\.impersonator_id;/,
    to: 'const giver = null;',
  },
  /** Notes are written after identity checked their project, while the copy that checks mentioned users is outdated. */
  'word-on-one': {
    only: /apps[\\/]collaboration/,
    file: /noteables[\\/]noteable-routes\.dto\.js$/,
    from: /'id', 'copy'/,
    to: "'id', 'whichever'",
  },
  /** Effects use a recent copy of the directory, even if it is older than the event that caused them. */
  'hasty-effects': {
    only: /apps[\\/]collaboration/,
    file: /directory[\\/]dist[\\/]directory\.js$/,
    from: /\.\.\.newestPositionsByEpoch\(events\)/,
    to: '...newestPositionsByEpoch([])',
  },
  /** To-dos and feeds do not check the permissions of their reader again. */
  'unjudged-lists': [
    {
      only: /apps[\\/]collaboration/,
      file: /todos[\\/]todos\.service\.js$/,
      from: /if \(!isDirectoryAsCurrentAsRequest\(row, viewer\)\)/,
      to: 'if (false)',
    },
    {
      only: /apps[\\/]collaboration/,
      file: /activity[\\/]activity\.queries\.js$/,
      from: /await this\.directory\.requireFresh\(viewer\);/g,
      to: '',
    },
  ],
  /** An e-mail that was taken from the queue is sent without another check. */
  'sent-as-taken': {
    only: /apps[\\/]collaboration/,
    file: /mailer[\\/]mailer\.js$/,
    from: /if \(await mail\.isStillDue\(\)\) return null;/,
    to: 'return null;',
  },
  /** Deletion events are accepted without a check. */
  'believed-events': {
    only: /apps[\\/]collaboration/,
    file: /directory[\\/]dist[\\/]directory\.js$/,
    from: /if \(found\.length > 0\) throw/,
    to: 'if (false) throw',
  },
  /** Rotations of one token wait for each other, and each holds a connection. */
  'rotations-in-line': [
    {
      only: /apps[\\/]identity/,
      file: /tokens[\\/]access-tokens\.queries\.js$/,
      from: /return rows\[0\]\?\.is_first \?\? true;/,
      to: 'return true;',
    },
    {
      only: /apps[\\/]identity/,
      file: /tokens[\\/]access-tokens\.queries\.js$/,
      from: /pg_try_advisory_xact_lock\(\$2, \(family_id % 2147483647\)::int\)/,
      to: '$2::int > 0',
    },
    {
      only: /apps[\\/]identity/,
      file: /tokens[\\/]access-tokens\.service\.js$/,
      from: /if \(known\) return known;/,
      to: '',
    },
    {
      only: /apps[\\/]identity/,
      file: /(token-use|user-rows)\.js$/,
      from: /for no key update skip locked/,
      to: 'for no key update',
    },
  ],
};

/** @type {[name: string, change: Change][]} */
const wanted = (process.env.DRILL_SABOTAGE ?? '')
  .split(',')
  .filter(Boolean)
  .flatMap((name) => {
    const changes = CHANGES[name];
    if (!changes) throw new Error(`there is no sabotage "${name}"`);
    return [changes].flat().map((change) => /** @type {[string, Change]} */ ([name, change]));
  });
const compile = Module.prototype._compile;
/**
 * @param {string} content
 * @param {string} filename
 */
Module.prototype._compile = function (content, filename) {
  let text = content;
  for (const [name, change] of wanted) {
    if (!change.file.test(filename) || (change.only && !change.only.test(process.argv[1] ?? ''))) continue;
    if (!change.from.test(text)) {
      process.stderr.write(`sabotage ${name} does not match ${filename}\n`);
      process.exit(1);
    }
    text = text.replace(change.from, change.to);
  }
  return compile.call(this, text, filename);
};

module.exports = { CHANGES };
