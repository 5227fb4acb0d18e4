"""Everyday English words that are neither food nor of use in an order: none is a slip for a dish."""

EVERYDAY = frozenset(
    """
    ability able absence absent absolute accept access accident account accurate achieve across act action
    active actor actual adapt add adult advance advice affair affect afford agent agree ahead aim air airport
    alarm album alert alive allow aloud alter amaze ambulance angel anger angle angry animal ankle annoy answer
    anxious apologize apology appear apply appointment approve argue arm army arrange arrest arrive arrow art
    article artist ashamed aside asleep assist assume attach attack attempt attend attention attitude attract
    audience aunt author autumn available average await award aware awful awkward bake baker balance balloon
    band bang bare bargain bark barrel barrier basic basket bat battery battle bead beam beard beast beat
    beautiful beauty become bedroom beg begin behave belief belong belt bench bend benefit bet beyond bicycle
    bind bird birth bite bitter blade blame blank blanket bleed bless blind blonde blood blow board boast boil
    bold bomb bone bonus boot border bore boss bother bottom bounce bow bowl brain brake branch brave breath
    breathe brick bride bridge brief bright brilliant broad broom bruise brush bubble bucket budget bug bullet
    bump bunch burden burn burst bus bush butterfly button cabin cable cage calculate calendar calm camera camp
    cancer candle candy cap capital captain capture carpet cart cartoon carve cast castle casual cat catch cause
    cave cease ceiling celebrate cell center century ceremony chain chair challenge champion chance chapter
    character charm chart chase chat cheat cheek cheer chemical chest chew chimney chin chop chorus church
    cigarette cinema circle circus citizen civil claim clap classic claw clay clerk clever cliff climate climb
    clinic clip closet cloth clothes cloud clown club clue coach coal coast coin collar college color colour
    column comb combine comedy comfort command comment commit common communicate compare compete complete
    computer concern concert conclude condition conduct confirm confuse connect conscious consider consist
    constant contact contest context continue contract control convince copper copy cord core cottage cotton
    cough council count couple courage cousin cover cow crack craft crash crawl crazy create creature creep crew
    crime cripple crisis critic crop cross crowd crown cruel crush cry cup cupboard cure curious curl current
    curtain curve cushion custom cute cycle damage damp dance danger dare dash data dawn dead deaf deal dear
    death debate debt decade decent decide deck declare decline decorate decrease defeat defend define degree
    delicate delight demand dense dentist deny depart depend depth describe desert deserve design desire desk
    despair destroy detail detect determine develop device devil dialogue diamond diary dictionary differ
    difficult dig digital dinosaur dip director disagree disappear disaster discover discuss disease disgust
    dislike dismiss display dispute distance distant disturb dive divide divorce doctor document doll dolphin
    donate double doubt dozen draft drag drama draw drawer dream dress drift drill drop drown drug drum drunk
    duty dwarf dye eager ear earn earth ease edge edit educate effect effort elbow elect electric elegant
    elephant elevator embarrass emergency emotion emperor empire employ empty enable encounter encourage enemy
    energy engage engine engineer enormous ensure enter entertain entire envelope envy equal equip error escape
    essay establish estate estimate evening eventual evidence evil exact exam examine excellent exchange excite
    excuse exercise exhaust exhibit exist exit expand expense experience expert explode explore export expose
    express extend extent extreme eye fabric face factor factory fade fail faint fair fairy faith fake false
    fame fan fancy farm fashion fasten fat fate fault favor favour fear feast feather feature fee feed fellow
    fence fetch fever fiction field fierce fight file fill film filter final finance finger firm fit fix flag
    flame flash flavor flavour flesh flight float flood flow flower fluid fly focus fog fold folk fond foot
    football forbid force forecast forehead foreign forest forever forgive fork formal format former fortune
    forward foundation fountain fox frame frank freeze frequent frighten frog frozen fuel function fund funeral
    fur furniture further future gain gallery gallon gamble gang gap garage garbage garden gas gather gear
    general generous gentle gesture ghost giant giggle glance globe glory glove glow glue goal god golf govern
    grab grace grade gradual grain grammar grand grandfather grandma grandmother grandpa grant graph grass grate
    grave gravity grey greet grief grill grin grip grocery ground grow growth guarantee guard guest guide guilty
    guitar gum gun gut gym habit hair hammer handle handsome handy hang hardly harm harsh hat haul haunt
    headache heal health heap heaven heel height hell helmet hero hesitate hide highlight hint hire history hit
    hobby hole holiday holy honest honor honour hook hopeful horn horror horse hospital host huge human humble
    humor humour hunger hunt hurt hut ideal identify ignore ill illegal illness image imagine immediate impact
    imply import impress improve inch incident include income increase indeed index indicate industry infant
    inform injure ink inner innocent inquire insect insist inspect inspire install instance instant instruct
    insult insurance intend intense interest interior internal interrupt interview introduce invade invent
    invest invite iron island issue item jacket jail jar jaw jealous jeans jewel join joke jolly journal journey
    joy judge jump jungle junior junk jury just justice keen kettle key kick kidney kill king kingdom kiss kite
    knee knife knight knit knock knot knowledge label labor labour lack ladder lake lamp land lap laptop laser
    laugh laundry law lawn lawyer layer lazy lead leader leaf lean learn leather lecture legal legend leisure
    lend length lesson liberty library license lid lie lift likely limb limit link lion lip liquid literature
    litter load loaf loan lobby logic lonely loose lord lot lottery lounge lover lower loyal luck luggage lump
    lung luxury machine mad magazine magic magnet maid main major mankind manner marble march margin marine
    market marry mask mass master match mate material mathematics matter mature maximum mayor meadow measure
    media medical medicine medium meet melt member memory mental mercy mere merit merry mess metal meter
    microphone midnight might mild military mind mineral minimum minister minor minus miracle mirror misery
    missile mission mist mix mixture mobile mode model modern modest monitor monkey monster mood moon moral
    mosquito motion motor mountain mouse mouth movement movie mud multiply murder muscle museum mushy mutual
    mystery naked narrow nation native nature naughty navy neat neck needle negative neglect neighbor neighbour
    nephew nerve nest net network neutral nickel niece nightmare noble nod nonsense normal nose notebook notice
    notion novel nowhere nuclear nuisance numb nurse oak obey object observe obtain obvious occasion occupy
    occur ocean odd offend officer official older olympic omit onto opera operate opinion opponent oppose
    opposite optimist option oral orbit orchestra ordinary organ origin orphan otherwise ought ounce outcome
    outdoor outfit outline output oven overcome owe owl owner oxygen pace pack package page pain paint pair
    palace pale palm pan panic pants paper parade paragraph parcel pardon parent parrot partner passage passenger
    passion passport paste path patience patient pattern pause pave peace peak pearl pen pencil penny per
    perfect perform perfume perhaps period permanent permit personal persuade pet philosophy photo phrase
    physical piano pig pile pill pillow pilot pin pink pioneer pipe pirate pit pity planet plant plastic
    plate platform pleasant pleasure plenty plot plug plumber poem poet poison pole polite politics pollution
    pond pony pool poor pop popular population porch portable portrait pose position positive pot pound pour
    poverty powder power practice praise pray precious predict prepare presence preserve president press
    pressure pretend prevent previous pride priest prime prince princess principle prison private prize probable
    process produce product profession profit progress project promise promote prompt proof proper property
    protect protest proud prove provide public publish pulse pump punch punish pupil puppet puppy purchase pure
    purple purpose purse push puzzle quality quantity quarrel quarter queen queue quit quote rabbit race radio
    rage rail rainbow raise random range rank rapid rare rat rate ratio raw ray razor react reader reality
    rear recall recent recipe reckon recognize recommend recover recycle reduce refer reflect refrigerator
    refuse regard region regret regular reject relate relax release relief religion rely remain remark remedy
    remind remote remove rent repair replace report represent republic reputation rescue research resemble
    resident resist resolve resource respect respond rest result retire reveal revenge review revolution reward
    rhythm ribbon rich riddle rifle rise risk rival river roar roast rob rocket rod role romance roof root rope
    rose rotten rough round route row royal rub rubber rubbish rude rug ruin ruler rumor rumour rural rush rust
    sack sacred sad saddle sail saint sake salary sample sand satellite satisfy scale scan scar scare scarf
    scatter scene scent schedule scheme scholar science scissors score scout scrape scratch scream screen screw
    sea seal search season secret section secure seed seek seize seldom select self selfish senate senior sense
    sensible sentence separate sequence series serious servant session settle severe sew sex shade shadow shake
    shallow shame shape shark sharp shave shed sheep sheet shelf shell shelter shield shift shine ship shirt
    shock shoe shoot shore shoulder shout shovel shower shut shy sigh sight signal signature silence silent silk
    silly silver similar simple sincere sing sink sir site situation skate skeleton sketch ski skill skin skirt
    skull sky slam slap slave sleeve slide slight slim slip slope slow smart smash smell smile smooth snake snap
    sneeze snow soap social society sock soil soldier solid solve somehow song sore sorrow soul source space
    spare spark sparkle specific speech speed spell spill spin spirit spit split spoil spoon sport spray spread
    spring spy squad squeeze squirrel stable stadium staff stage stain stair stamp standard stare state statue
    status steal steam steel steep stem stick stiff stir stock stomach stone storm straight strange stranger
    straw stream strength stress stretch strict strike string strip stripe stroke structure struggle student
    studio study stupid style subject submit subway succeed success sudden suffer suicide suit suitable sum
    summer sunny super superior supply support suppose surface surgeon surprise surround survey survive suspect
    swallow swamp swear sweat sweep swell swim swing sword symbol sympathy tail tailor talent tank tap tape
    target task tax taxi teach teacher team tear tease technique teenager telephone television temper
    temperature temple temporary tempt tender tennis tension tent term test text theater theatre theme theory
    therefore thick thief thin thirst thirsty thorough thread threat throat throne throw thumb thunder ticket
    tide tidy tie tiger tight tile timber tiny tired tissue title toad tobacco toe tongue tool tooth toss tough
    tour tourist towel tower toy trace track trade tradition traffic tragedy trail transfer transform translate
    trap trash travel tray treasure treat tree tremble trial triangle tribe trick trigger trip troop tropical
    trouble truck trumpet trunk trust truth tube tug tunnel twig twin twist typical ugly ultimate umbrella uncle
    under uneasy uniform union unique unit unite universe university unknown unless upper upset urban urge
    urgent useful vacation vague valley value van vanish various vast vehicle verb version very veteran victim
    victory video view village violence violin virtue visible vision visitor vital vivid vocabulary volcano
    volume volunteer vote vowel wage waist wake wander war warehouse warn warning waste wave wax weak wealth
    weapon wear web wedding weed weep weird welfare wet whale wheel whenever wherever whip whisper whistle
    whoever wicked wide widow width wild wilderness willing win wing wipe wire wise within witness wolf womb
    worker worm worship worth wound wrap wreck wrist yard yawn yell yellow youth zebra zero zone
    """.split()
)
"""Kept apart from the words that do something in an order, because it is only ever looked up."""
