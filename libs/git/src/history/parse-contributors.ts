/** Author of commits. `email` is in lower case. `name` is the one with the most commits. */
export interface Contributor {
  readonly name: string;
  readonly email: string;
  readonly commits: number;
}

const LINE = /^ *(\d+)\t(.*) <([^<>]*)>$/;

/** Parses `shortlog --summary --email` and joins the lines of one e-mail. Neither names nor e-mails hold line ends. */
export function parseContributors(output: Buffer): Contributor[] {
  const byEmail = new Map<string, Contributor & { most: number }>();
  for (const line of output.toString().split('\n')) {
    const match = LINE.exec(line);
    if (!match) continue;
    const [count, name, email] = [Number(match[1]), match[2]!, match[3]!.toLowerCase()];
    const known = byEmail.get(email);
    if (!known) byEmail.set(email, { name, email, commits: count, most: count });
    else {
      const isMore = count > known.most;
      const commits = known.commits + count;
      byEmail.set(email, { name: isMore ? name : known.name, email, commits, most: Math.max(count, known.most) });
    }
  }
  return [...byEmail.values()].map(({ name, email, commits }) => ({ name, email, commits }));
}
