import { int, presenter, text } from '@rookery/api-v4';
import type { ImportedAttachment } from '@rookery/contracts';
import type { Upload } from './upload.entity';

/** Source: reference repositories 9.1. */
export const uploadPresenter = presenter<Upload>('ProjectUpload').fields({
  id: [int, (upload) => upload.id],
  alt: [text, altOf, { about: 'Text for the Markdown: the name of the file, of pictures without the extension.' }],
  url: [text, urlOf, { about: 'Address below the project, as it stands in Markdown.' }],
  full_path: [
    text,
    (upload) => `/-/project/${upload.projectId}${urlOf(upload)}`,
    { about: 'Path of the file below the address of the instance.' },
  ],
  markdown: [text, markdownOf, { about: 'Markdown that shows the picture or leads to the file.' }],
});

/** Describes an imported file to the import service. */
export function toImportedAttachment(upload: Upload): ImportedAttachment {
  return { url: urlOf(upload), markdown: markdownOf(upload) };
}

function markdownOf(upload: Upload): string {
  return `${isPicture(upload) ? '!' : ''}[${altOf(upload)}](${urlOf(upload)})`;
}

function isPicture({ pictureType }: Upload): boolean {
  return pictureType !== null;
}

function altOf(upload: Upload): string {
  const { filename } = upload;
  const dot = filename.lastIndexOf('.');
  return isPicture(upload) && dot > 0 ? filename.slice(0, dot) : filename;
}

function urlOf({ secret, filename }: Upload): string {
  return `/uploads/${secret}/${encodeURIComponent(filename)}`;
}
