import { Injectable } from '@nestjs/common';
import { NotFound, Refused } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import { lockTopicAssignments } from './project-topics.service';
import type { Topic } from './topic.entity';
import { topics } from './topics.service';

const topicMergeRefusal = (text: string): Refused => new Refused(text, { verbatim: true });

/** Merges two topics. Source: reference identity-and-import 9. */
@Injectable()
export class TopicMergeService {
  constructor(private readonly work: Work) {}

  /**
   * Moves the projects of the source to the target, at the same position, and deletes the source. Errors: NotFound for
   * either; Refused for identical topics, or topics of different organizations.
   */
  mergeTopics(sourceId: number, targetId: number): Promise<Topic> {
    return this.work.run(async (tx) => {
      await lockTopicAssignments(tx);
      const rows = await tx.query<{ id: number; organization_id: number }>(
        `select id, organization_id from topics where id = any($1) order by id for update`,
        [[sourceId, targetId]],
      );
      const [source, target] = [sourceId, targetId].map((id) => rows.find((row) => row.id === id));
      if (!source || !target) throw new NotFound();
      if (source === target) throw topicMergeRefusal('The source topic and the target topic are identical.');
      if (source.organization_id !== target.organization_id) {
        throw topicMergeRefusal('The source topic and the target topic must belong to the same organization.');
      }
      await tx.query(
        `update project_topics moved set topic_id = $2 where moved.topic_id = $1 and not exists (
           select 1 from project_topics has where has.project_id = moved.project_id and has.topic_id = $2)`,
        [sourceId, targetId],
      );
      await tx.query(`delete from topics where id = $1`, [sourceId]);
      await tx.query(`update topics set updated_at = now() where id = $1`, [targetId]);
      return topics.on(this.work, tx).find(targetId);
    });
  }
}
