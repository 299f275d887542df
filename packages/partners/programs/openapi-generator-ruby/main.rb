# frozen_string_literal: true

# Usage: program models | program answer PROMPT | program error | program stream PROMPT

require 'uri'
require 'parley'

MODEL = 'vendor/model-1'
CITY = { type: 'object', properties: { city: { type: 'string' } } }.freeze

class StreamFailure < StandardError; end

def connect
  url = URI(ENV.fetch('PARLEY_URL'))
  configuration = Parley::Configuration.new
  configuration.scheme = url.scheme
  configuration.host = "#{url.host}:#{url.port}"
  configuration.access_token = ENV.fetch('PARLEY_KEY')
  Parley::ApiClient.new(configuration)
end

def new_request(model, prompt, **options)
  message = Parley::UserMessage.new(role: 'user', content: prompt)
  Parley::ChatCompletionRequest.new(model: model, messages: [message], **options)
end

def list_models
  Parley::ModelsApi.new(connect).list_models.data.each { |model| puts model.id }
end

def answer(prompt)
  function = Parley::FunctionDefinition.new(name: 'get_weather', parameters: CITY)
  format = Parley::JsonSchemaFormat.new(name: 'city', schema: CITY)
  request = new_request(
    MODEL, prompt,
    tools: [Parley::Tool.new(type: 'function', function: function)],
    response_format: Parley::ResponseFormatJsonSchema.new(type: 'json_schema', json_schema: format)
  )
  Parley::ChatApi.new(connect).create_chat_completion(request).choices.each do |choice|
    puts "#{choice.finish_reason} #{choice.message.content}"
    choice.message.tool_calls.each { |call| puts "#{call.function.name} #{call.function.arguments}" }
  end
end

def refusal
  Parley::ChatApi.new(connect).create_chat_completion(new_request('vendor/none', 'Hello'))
rescue Parley::ApiError => e
  error = Parley::ErrorResponse.build_from_hash(JSON.parse(e.response_body)).error
  puts "#{e.code} #{error.type} #{error.code}"
end

# The client makes the request, and leaves it to the program to read its answer piece by piece.
def stream(prompt)
  client = connect
  request = client.build_request(
    :POST, '/v1/chat/completions',
    auth_names: ['bearerAuth'], body: client.object_to_http_body(new_request(MODEL, prompt, stream: true))
  )
  rest = +''
  is_whole = false
  request.on_body do |bytes|
    rest << bytes
    # Only whole lines are read, so that a character that is cut in two comes together again.
    while (line = rest.slice!(/\A.*\n/n))
      is_whole ||= read_line(line.chomp)
    end
  end
  response = request.run
  raise StreamFailure, "status #{response.code}" unless response.success?
  raise StreamFailure, 'truncated: the stream ended without [DONE]' unless is_whole
end

# Says whether the line ends the stream.
def read_line(line)
  return false unless line.start_with?('data: ') # an empty line, or a keep-alive comment

  data = line.delete_prefix('data: ')
  return true if data == '[DONE]'

  print_chunk(read_chunk(JSON.parse(data)))
  false
end

def read_chunk(event)
  return Parley::ChatCompletionChunk.build_from_hash(event) unless event.key?('error')

  error = Parley::StreamError.build_from_hash(event).error
  raise StreamFailure, "stream error: #{error.code}"
end

def print_chunk(chunk)
  chunk.choices.each do |choice|
    puts choice.delta.content unless choice.delta.content.to_s.empty?
    puts choice.finish_reason if choice.finish_reason
  end
end

begin
  case ARGV[0]
  when 'models' then list_models
  when 'answer' then answer(ARGV[1])
  when 'error' then refusal
  else stream(ARGV[1])
  end
rescue StreamFailure => e
  puts e.message
  exit 1
end
