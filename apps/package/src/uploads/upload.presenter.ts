import { int, presenter, text } from '@rookery/api-v4';
import type { ImportedAttachment } from '@rookery/contracts';
import type { Upload } from './upload.entity';

/** Source: reference repositories 9.1. */
export const uploadPresenter = presenter<Upload>('ProjectUpload').fields({
  id: [int, (upload) => upload.id],
  alt: [text, altText, { about: 'Text for the Markdown: the name of the file, of pictures without the extension.' }],
  url: [text, uploadUrl, { about: 'Address below the project, as it stands in Markdown.' }],
  full_path: [
    text,
    (upload) => `/-/project/${upload.projectId}${uploadUrl(upload)}`,
    { about: 'Path of the file below the address of the instance.' },
  ],
  markdown: [text, uploadMarkdown, { about: 'Markdown that shows the picture or leads to the file.' }],
});

/** Describes an imported file to the import service. */
export function toImportedAttachment(upload: Upload): ImportedAttachment {
  return { url: uploadUrl(upload), markdown: uploadMarkdown(upload) };
}

function uploadMarkdown(upload: Upload): string {
  return `${isPicture(upload) ? '!' : ''}[${altText(upload)}](${uploadUrl(upload)})`;
}

function isPicture({ pictureType }: Upload): boolean {
  return pictureType !== null;
}

function altText(upload: Upload): string {
  const { filename } = upload;
  const dot = filename.lastIndexOf('.');
  return isPicture(upload) && dot > 0 ? filename.slice(0, dot) : filename;
}

function uploadUrl({ secret, filename }: Upload): string {
  return `/uploads/${secret}/${encodeURIComponent(filename)}`;
}
