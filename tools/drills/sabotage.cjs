/**
 * Loaded into a service by NODE_OPTIONS=--require: takes a guard out, or puts a fault in, by changing the text of one
 * built file as it is loaded, or of several. Nothing of this is in the product. What is to be changed is in
 * DRILL_SABOTAGE, names from CHANGES joined by commas; a change that finds nothing to change ends the process, so that no
 * drill is blind.
 */
const Module = require('node:module');

const CHANGES = {
  /** A commit that failed counts as not done. */
  'no-doubt': {
    file: /persistence[\\/]dist[\\/]work[\\/]work\.js$/,
    from: /wasRolledBack\)\(error\) \?/,
    to: 'wasRolledBack)(error) || true ?',
  },
  /** Whoever waits for a silent connection waits as long as TCP does. */
  'endless-silence': {
    file: /persistence[\\/]dist[\\/]connections[\\/]steady-client\.js$/,
    from: /(?<!this\.)socket\.setTimeout\(this\.silenceMs\);/,
    to: '',
  },
  /** The lead ends when the leader's connection does. */
  'endless-leadership': { file: /messaging[\\/]dist[\\/]relay[\\/]outbox-reader\.js$/, from: /\$\{LEASE\}/, to: '' },
  /** Identity takes any database for the one that it wrote to. */
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
  /** Another history begins, and ids go on where the restored database was. */
  'ids-again': {
    only: /apps[\\/]identity/,
    file: /history[\\/]histories\.queries\.js$/,
    from: /where seen\.id > coalesce/,
    to: 'where false and seen.id > coalesce',
  },
  /** E-mails about a comment are named after its id alone. */
  'ids-as-message-ids': {
    only: /apps[\\/]collaboration/,
    file: /mailer[\\/]mail-identity\.js$/,
    from: /\.\$\{digest\(event_id, identity\)\.slice\(0, 20\)\}/,
    to: '',
  },
  /** A service whose database was restored goes on where its durables are. */
  'heard-once': {
    only: /apps[\\/]collaboration/,
    file: /messaging[\\/]dist[\\/]relay[\\/]restoration\.js$/,
    from: /await this\.readFrom\([^;]*;/,
    to: '',
  },
  /** A session that broke off means that the mail server is away. */
  'contagious-drops': {
    only: /apps[\\/]collaboration/,
    file: /mailer[\\/]smtp-client\.js$/,
    from: /await this\.isReached\(\)/,
    to: 'false',
  },
  /** A stopping replica tells nobody who keeps a connection before it closes it. */
  'silent-end': [
    { file: /platform[\\/]dist[\\/]boot[\\/]stop\.js$/, from: /await shutdown\.announce\(\);/, to: '' },
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
  /** The relay dies between the bus's acknowledgement and its own mark, now and then while DRILL_FAULT_FILE is there. */
  'kill-before-mark': {
    only: /apps[\\/]collaboration/,
    file: /messaging[\\/]dist[\\/]relay[\\/]relay\.js$/,
    from: /await faults\.reach\(.relay\.before-mark.\);/,
    to: "if (Math.random() < 0.03 && require('node:fs').existsSync(process.env.DRILL_FAULT_FILE)) process.kill(process.pid, 'SIGKILL');",
  },
  /** The bus is not told which message it has had already. */
  'no-message-id': {
    file: /messaging[\\/]dist[\\/]relay[\\/]publisher\.js$/,
    from: /msgID,/,
    to: '',
  },
  /** What comes up while the bus is away counts as published, as without an outbox. */
  'no-waiting': {
    file: /messaging[\\/]dist[\\/]relay[\\/]relay\.js$/,
    from: /const connection = await broker\.connected\(this\.stopping\.signal\);/,
    to: `if (!broker.isConnected) {
      const away = await this.reader.markAndRead(this.published, settings.outboxBatchCount);
      this.published = away.map((row) => row.id);
      return away.length > 0;
    }
    const connection = await broker.connected(this.stopping.signal);`,
  },
  /** One event in ten is lost on its way into the outbox, as if it were published beside the transaction. */
  'lossy-outbox': {
    file: /persistence[\\/]dist[\\/]work[\\/]work\.js$/,
    from: /if \(rows\.length > 0\)/,
    to: 'if (rows.length > 0 && Math.random() > 0.1)',
  },
  /** Searches and heavy pages have as many places as there are requests. */
  'no-places': {
    file: /api-v4[\\/]dist[\\/]limits[\\/]fair-places\.js$/,
    from: /return this\.taken < this\.places\.count && running < this\.places\.ofOneCaller;/,
    to: 'return true;',
  },
  /** Long texts are searched whole, by comparing each character at each place. */
  'slow-match': {
    only: /apps[\\/]collaboration/,
    file: /persistence[\\/]dist[\\/]sql[\\/]conditions\.js$/,
    from: /`folded\.long_\$\{index\} ~ lower\(\$\{plain\}\)`/,
    to: "`folded.long_${index} like lower('%' || substr(${plain}, 5) || '%')`",
  },
  /** A copy of the directory decides whatever its version. */
  'no-version-check': {
    file: /directory[\\/]dist[\\/]copy[\\/]copy-progress\.js$/,
    from: /return position\.epoch === target\.epoch && position\.version >= target\.version;/,
    to: 'return true;',
  },
  /** A gateway keeps good token checks although it hears that the token or its holder changed. */
  'deaf-gateway': {
    file: /gateway[\\/]dist[\\/]auth[\\/]directory-watch\.js$/,
    from: /this\.leases\.dropToken\(id\);\s*else if \(kind === 'user'\) this\.leases\.dropUser\(id\);/,
    to: "id; else if (kind === 'user') id;",
  },
  /** A gateway does not hear of the versions that its own writes made. */
  'no-floor': {
    file: /gateway[\\/]dist[\\/]auth[\\/]directory-floor\.js$/,
    from: /raise\(version\) \{/,
    to: 'raise(version) { return;',
  },
  /** An invited group keeps its level after the last day of the invitation. */
  'endless-shares': {
    file: /directory[\\/]dist[\\/]sql[\\/]level-sql\.js$/,
    from: /and \$\{live\('s'\)\} and/,
    to: 'and',
  },
  /** An invited group gives its members all that they are in it. */
  'uncapped-shares': {
    file: /directory[\\/]dist[\\/]sql[\\/]level-sql\.js$/,
    from: /least\(s\.access_level, m\.access_level\)/,
    to: 'm.access_level',
  },
  /** Nobody is told that a group has moved. */
  'silent-moves': {
    only: /apps[\\/]identity/,
    file: /moving[\\/]group-moves\.service\.js$/,
    from: /await this\.log\.recordSubtree\(tx, groupId\);/,
    to: '',
  },
  /** Nobody is told that an account was shut out or let in. */
  'silent-states': {
    only: /apps[\\/]identity/,
    file: /states[\\/]user-states\.service\.js$/,
    from: /await this\.changes\.record\(tx, id\);/,
    to: '',
  },
  /** A revoked token that is presented to be replaced is refused, and its family lives on. */
  'living-families': {
    only: /apps[\\/]identity/,
    file: /resolution[\\/]token-resolution\.js$/,
    from: /await this\.tokens\.revokeFamilyOf\(row\.token_id\);/,
    to: '',
  },
  /** What a bot may does not depend on who made it and who gave out its tokens. */
  'free-bots': [
    {
      only: /apps[\\/]identity/,
      file: /users[\\/]bot-limits\.js$/,
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
  /** A bot stays what those were who answer for it when its tokens were given out. */
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
  /** What an administrator gave out is good when they are none any more. */
  'endless-impersonation': {
    only: /apps[\\/]identity/,
    file: /resolution[\\/]token-resolution\.js$/,
    from: /if \(row\.is_given_out && !row\.may_give_out\)/,
    to: 'if (false)',
  },
  /** A gateway forgets good token checks of people who change, but not those of tokens that they gave out. */
  'unheard-impersonators': {
    only: /apps[\\/]gateway/,
    file: /auth[\\/]token-leases\.js$/,
    from: /const giver = holder\.given_by_id \?\? holder\.impersonator_id;/,
    to: 'const giver = null;',
  },
  /** Notes are written by identity's word on their own place, while the copy that judges whom they name is behind. */
  'word-on-one': {
    only: /apps[\\/]collaboration/,
    file: /noteables[\\/]noteable-routes\.dto\.js$/,
    from: /'id', 'copy'/,
    to: "'id', 'whichever'",
  },
  /** Effects go by any copy of the directory that was current a few seconds ago, whatever their cause had seen. */
  'hasty-effects': {
    only: /apps[\\/]collaboration/,
    file: /directory[\\/]dist[\\/]directory\.js$/,
    from: /\.\.\.seenBy\(events\)/,
    to: '...seenBy([])',
  },
  /** To-dos and feeds show what was told once, whoever reads. */
  'unjudged-lists': [
    {
      only: /apps[\\/]collaboration/,
      file: /todos[\\/]todos\.service\.js$/,
      from: /if \(!isCurrent\(row, viewer\)\)/,
      to: 'if (false)',
    },
    {
      only: /apps[\\/]collaboration/,
      file: /activity[\\/]activity\.queries\.js$/,
      from: /await this\.directory\.fresh\(viewer\);/g,
      to: '',
    },
  ],
  /** An e-mail that was taken from the queue leaves, whatever has happened since. */
  'sent-as-taken': {
    only: /apps[\\/]collaboration/,
    file: /mailer[\\/]mailer\.js$/,
    from: /if \(await mail\.isStillDue\(\)\) return null;/,
    to: 'return null;',
  },
  /** Whoever says that something is gone is believed. */
  'believed-events': {
    only: /apps[\\/]collaboration/,
    file: /directory[\\/]dist[\\/]directory\.js$/,
    from: /if \(found\.length > 0\) throw/,
    to: 'if (false) throw',
  },
  /** Rotations of one token wait for each other, with a connection each. */
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

const wanted = (process.env.DRILL_SABOTAGE ?? '')
  .split(',')
  .filter(Boolean)
  .flatMap((name) => {
    if (!CHANGES[name]) throw new Error(`there is no sabotage "${name}"`);
    return [CHANGES[name]].flat().map((change) => [name, change]);
  });
const compile = Module.prototype._compile;
Module.prototype._compile = function (content, filename) {
  let text = content;
  for (const [name, change] of wanted) {
    if (!change.file.test(filename) || (change.only && !change.only.test(process.argv[1]))) continue;
    if (!change.from.test(text)) {
      process.stderr.write(`sabotage ${name} finds nothing to change in ${filename}\n`);
      process.exit(1);
    }
    text = text.replace(change.from, change.to);
  }
  return compile.call(this, text, filename);
};

module.exports = { CHANGES };
