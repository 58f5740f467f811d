/** Default descriptions for commits; see `words.ts`. */
export const WORDS_OF_COMMITS: Readonly<Record<string, string>> = {
  short_id: 'First 8 characters of the id.',
  parent_ids: 'Ids of the parents; a merge has several.',
  author_name: 'Name of the author.',
  author_email: 'E-mail address of the author.',
  authored_date: 'Date of the author, in their zone.',
  committer_name: 'Name of the committer.',
  committer_email: 'E-mail address of the committer.',
  committed_date: 'Date of the committer, in their zone.',
  trailers: 'Trailers of the message. Of several values of a key the last one.',
  extended_trailers: 'The same with all values of a key.',
};
