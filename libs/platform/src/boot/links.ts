/** Absolute URLs of the platform, as clients reach it through the gateway. */
export class Links {
  private readonly base: string;

  /** `externalUrl` is the value of `ROOKERY_EXTERNAL_URL`, with or without a slash at its end. It may have a path. */
  constructor(externalUrl: string) {
    this.base = externalUrl.replace(/\/+$/, '');
  }

  /** Returns `{base}/x`. `path` is already encoded; a leading slash makes no difference. */
  webUrl(path: string): string {
    return `${this.base}/${path.replace(/^\/+/, '')}`;
  }

  /** `{base}/api/v4/x`. */
  apiUrl(path: string): string {
    return `${this.base}/api/v4/${path.replace(/^\/+/, '')}`;
  }
}
