-- issues_note_awards_page_20: $1 reads_internal, $2 note, $3 parent, $4 named, $5 reads_confidential, $6 viewer, $7 is_member
select
  t.id,
  t.hidden,
  (
    select
      count(*)::int
    from
      (
        select
          1
        from
          award_emoji w
        where
          w.awardable_id = t.id
          and w.awardable_type = 'Note'
          and not t.hidden
        limit
          10001
      ) c
  ) as counted,
  null::boolean as has_more,
  (
    select
      '[' || coalesce(
        string_agg(
          format(
            '{"id":%s,"name":%s,"user":%s,"created_at":"%s","updated_at":"%s","awardable_id":%s,"awardable_type":"%s","url":null}',
            w.id,
            to_json(w.name),
            case
              when u.id is not null then format(
                '{"id":%s,"username":"%s","public_email":%s,"name":%s,"state":"%s","locked":false,"avatar_url":%s,"web_url":"http://localhost:8080/%s"}',
                u.id,
                u.username,
                coalesce(to_json(u.public_email)::text, 'null'),
                to_json(u.name),
                u.state,
                coalesce(
                  to_json(
                    case
                      when left(u.avatar_url, 1) = '/' then 'http://localhost:8080' || u.avatar_url
                      else u.avatar_url
                    end
                  )::text,
                  'null'
                ),
                u.username
              )
              else 'null'
            end,
            to_char((w.created_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
            to_char((w.updated_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
            w.awardable_id,
            w.awardable_type
          ),
          ','
          order by
            w.id asc
        ),
        ''
      ) || ']'
    from
      (
        select
          w.*
        from
          award_emoji w
        where
          w.awardable_id = t.id
          and w.awardable_type = 'Note'
          and not t.hidden
        order by
          w.id asc
        limit
          20
      ) w
      left join directory_users u on u.id = w.user_id
  ) as json
from
  (
    select
      n.id,
      n.internal
      and not :reads_internal::boolean as hidden,
      n.system,
      i.id as noteable_id,
      i.discussion_locked is true as locked
    from
      issues i
      left join notes n on n.id = :note::bigint
      and n.noteable_id = i.id
      and n.noteable_type = 'Issue'
    where
      i.project_id = :parent::bigint
      and i.iid = :named::bigint
      and (
        not i.confidential
        or :reads_confidential::boolean
        or (
          i.author_id = :viewer::bigint
          and :is_member::boolean
        )
        or :viewer::bigint in (
          select
            seen.user_id
          from
            issue_assignees seen
          where
            seen.issue_id = i.id
        )
      )
  ) t
