import { Text } from '@rookery/api-v4';

const CHANNEL = /^[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*$/;
const FILE_NAME = /^(?!.*\.\.)[A-Za-z0-9._+-]+\.tgz(?:\.prov)?$/;

/** A channel of a Helm repository. Source: reference packages-and-admin 4.8. */
export class UploadHelmChart {
  @Text({ in: 'path', max: 255, pattern: CHANNEL, about: 'Name of the channel, such as `stable`.' }) channel: string;
}

export class ShowHelmIndex extends UploadHelmChart {
  /** Uploaders build their URL from the reference that the index repeats. */
  @Text({ in: 'path', max: 1000, about: 'Id or path.' }) id: string;
}

export class IdentifyHelmFile extends UploadHelmChart {
  @Text({ in: 'path', max: 520, pattern: FILE_NAME, about: 'The chart, or its provenance file with `.prov` behind.' })
  file_name: string;
}
